#include "sfumato/answers/problem/questions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

const char* not_an_order(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite order > 0";
}

const char* not_a_rate(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not in [0, 1]";
}

}  // namespace

void require_overrides(const Overrides& overrides) {
  require_key("times", overrides.times, not_a_time);
  require_key("steps", overrides.steps, not_a_step_count);
  require_key("epsilons", overrides.epsilons, not_an_epsilon);
  require_key("delta", overrides.deltas, not_a_delta);
}

double checked_number(const TomlTable& table, const char* key, const std::string& label,
                      NumberCheck check) {
  const double value = table.number(key);
  if (const char* problem = check(value)) {
    throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem), "Correct that number",
                          table.where(key));
  }
  return value;
}

std::vector<double> checked_list(const TomlTable& table, const char* key, const std::string& label,
                                 NumberCheck check) {
  std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem),
                            "Correct or remove that number", table.where(key));
    }
  }
  return values;
}

std::vector<double> checked_numbers(const TomlTable& table, const char* key,
                                    const std::string& label, NumberCheck check) {
  return without_repeats(checked_list(table, key, label, check));
}

RiskQuestions read_questions(const TomlTable& root, const Overrides& overrides) {
  std::vector<double> epsilons = {1.0};
  std::vector<double> deltas = {1e-5};
  RiskQuestions questions;
  questions.renyi_orders = {2.0};
  questions.false_positive_rates = {0.01, 0.001};
  if (root.has("risk")) {
    const TomlTable risk = root.table("risk");
    risk.reject_unknown({"epsilons", "delta", "deltas", "renyi_orders", "false_positive_rates"});
    if (risk.has("delta") && risk.has("deltas")) {
      throw InvalidArgument("`risk.delta` and `risk.deltas` are both given", "Keep one of them",
                            risk.where("deltas"));
    }
    const auto read = [&](const char* key, NumberCheck check, std::vector<double>& values) {
      if (risk.has(key)) values = checked_numbers(risk, key, fmt::format("risk.{}", key), check);
    };
    read("epsilons", not_an_epsilon, epsilons);
    read("delta", not_a_delta, deltas);
    read("deltas", not_a_delta, deltas);
    read("renyi_orders", not_an_order, questions.renyi_orders);
    read("false_positive_rates", not_a_rate, questions.false_positive_rates);
  }
  if (!overrides.epsilons.empty()) epsilons = without_repeats(overrides.epsilons);
  if (!overrides.deltas.empty()) deltas = without_repeats(overrides.deltas);
  for (const double value : epsilons) questions.epsilons.emplace_back(value);
  for (const double value : deltas) questions.deltas.emplace_back(value);
  return questions;
}

}  // namespace sfumato
