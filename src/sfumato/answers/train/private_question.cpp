#include "sfumato/answers/train/private_question.hpp"

#include "sfumato/core/number_check.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

using namespace keys;
using Q = PrivateTrainQuestion;

const char* not_a_share(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a number between 0 and 1";
}

std::string text_of(double value) { return toml_text(value); }
std::string text_of(const std::optional<double>& value) {
  return value ? toml_text(*value) : std::string();
}

/// A number between 0 and 1; one that is optional may be left out.
template <class Number>
Key<Q> share_key(const char* name, const char* help, Number Q::*member) {
  return {name,
          "number in (0, 1)",
          help,
          [member](Q& to, const TomlTable& table, const std::string& key) {
            to.*member = checked_number(table, key, not_a_share);
          },
          [member](const Q& from) { return text_of(from.*member); },
          {},
          false,
          {},
          KeyShape::number};
}

/// A positive number that may be left out.
Key<Q> optional_key(const char* name, const char* help, std::optional<double> Q::*member) {
  struct One {
    double value = 0.0;
  };
  const Key<One> one = positive_key<One>(name, help, &One::value);
  return {name,
          one.type,
          help,
          [member, read = one.read](Q& to, const TomlTable& table, const std::string& key) {
            One given;
            read(given, table, key);
            to.*member = given.value;
          },
          [member](const Q& from) { return text_of(from.*member); },
          {},
          false,
          {},
          KeyShape::number};
}

}  // namespace

const Keys<PrivateTrainQuestion>& private_train_keys() {
  static const Keys<Q> all = {
      required(file_key<Q>("study", "study file (TOML)", &Q::study)),
      optional_key("target_epsilon", "find the noise multiplier for this epsilon",
                   &Q::target_epsilon),
      share_key("target_delta", "delta of the guarantee", &Q::target_delta),
      integer_key<Q>(
          "seed",
          "draw initial weights, batches and noise from a seed: an experiment, without a "
          "guarantee",
          &Q::seed, 0),
      file_key<Q>("out", "directory for the model", &Q::out),
      flag_key<Q>(
          "hardened",
          "exact noise on integer sums instead of floating point: protects the low bits too, "
          "and is slower",
          &Q::hardened),
      file_key<Q>("after",
                  "what was released before about the same records: accounting.toml of a private "
                  "run, a file of `account --save`, or a model of `fit`",
                  &Q::after),
      share_key("metric_share",
                "metric = \"input\": share of the budget for second moments (default: 0.3)",
                &Q::metric_share),
      optional_key("metric_floor",
                   "metric = \"input\": floor of eigenvalues, in noise edges (default: 1)",
                   &Q::metric_floor),
      optional_key(
          "input_bound",
          "metric = \"input\": bound on the norm of inputs (default: root of their number)",
          &Q::input_bound)};
  return all;
}

}  // namespace sfumato
