#include "sfumato/problem/risk_questions.hpp"

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/problem/risk_keys.hpp"

namespace sfumato {
namespace {

const char* not_an_order(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite order > 0";
}

const char* not_a_rate(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not in [0, 1]";
}

void require_list(const char* key, const std::vector<double>& values, NumberCheck check) {
  if (values.empty()) throw InvalidArgument("is empty", "Give a number", Where::key(key));
  require_key(key, values, check);
}

}  // namespace

const Keys<RiskQuestions>& risk_keys() {
  using Q = RiskQuestions;
  using namespace keys;
  static const Keys<Q> all = {
      numbers_key<Q>("epsilons", "list of numbers >= 0", "report delta at these epsilons",
                     &Q::epsilons, not_an_epsilon),
      with(numbers_key<Q>("delta", "number or list in [0, 1)", "report epsilon at these deltas",
                          &Q::deltas, not_a_delta),
           {"deltas"}),
      numbers_key<Q>("renyi_orders", "list of numbers > 0",
                     "report Renyi divergences of these orders", &Q::renyi_orders, not_an_order),
      numbers_key<Q>("false_positive_rates", "list of numbers in [0, 1]",
                     "report the best true-positive rate at these false-positive rates",
                     &Q::false_positive_rates, not_a_rate)};
  return all;
}

RiskQuestions read_risk(const TomlTable& root) {
  RiskQuestions questions;
  if (root.has("risk")) read_keys(questions, root.table("risk"), risk_keys());
  return questions;
}

void require_risk(const RiskQuestions& questions) {
  require_list("epsilons", questions.epsilons, not_an_epsilon);
  require_list("delta", questions.deltas, not_a_delta);
  require_list("renyi_orders", questions.renyi_orders, not_an_order);
  require_list("false_positive_rates", questions.false_positive_rates, not_a_rate);
}

}  // namespace sfumato
