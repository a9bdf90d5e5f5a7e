#include "lab/train/private_question.hpp"

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {

const Keys<PrivateTrainQuestion>& private_train_keys() {
  using namespace keys;
  using Q = PrivateTrainQuestion;
  static const Keys<Q> own = {
      required(file_key<Q>("study", "study file (TOML)", &Q::study)),
      number_key<Q>("target_epsilon", "number > 0", "find the noise multiplier for this epsilon",
                    &Q::target_epsilon, not_positive),
      number_key<Q>("target_delta", "number in (0, 1)", "delta of the guarantee", &Q::target_delta,
                    not_a_small_probability),
      flag_key<Q>("allow_large_delta", "take a target_delta above 1 / records too",
                  &Q::allow_large_delta),
      integer_key<Q>(
          "seed",
          "draw initial weights, batches and noise from a seed: an experiment, without a "
          "guarantee",
          &Q::seed, 0),
      output_key<Q>("out", "directory for the model", &Q::out),
      flag_key<Q>(
          "hardened",
          "exact noise on integer sums instead of floating point: protects the low bits too, "
          "and is slower",
          &Q::hardened),
      file_key<Q>("after",
                  "what was released before about the same records: accounting.toml of a private "
                  "run, a file of `account --save`, or a model of `fit`",
                  &Q::after),
      number_key<Q>("metric_share", "number in (0, 1)",
                    "metric = \"input\": share of the budget for second moments (default: 0.3)",
                    &Q::metric_share, not_a_share),
      number_key<Q>("metric_floor", "number > 0",
                    "metric = \"input\": floor of eigenvalues, in noise edges (default: 1)",
                    &Q::metric_floor, not_positive),
      number_key<Q>(
          "input_bound", "number > 0",
          "metric = \"input\": bound on the norm of inputs (default: root of their number)",
          &Q::input_bound, not_positive),
      choice_key("metric_layers",
                 "metric = \"input\": the layers whose inputs are whitened (default: first)",
                 &Q::metric_layers, by_name({MetricLayers::first, MetricLayers::all}))};
  static const Keys<Q> all = [] {
    Keys<Q> list = own;
    for (Key<Q>& key : budget_keys<Q>()) list.push_back(std::move(key));
    return list;
  }();
  return all;
}

}  // namespace sfumato::lab
