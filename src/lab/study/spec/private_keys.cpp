// Keys of a study that private training adds. They are written only where they are used, so that texts of studies without them stay as
// they were.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "lab/study/spec/key.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

using namespace keys;

template <class T>
Key<T> for_networks(Key<T> key) {
  key.kinds.emplace_back(name(ModelKind::network));
  return key;
}

/// Written unless it has the value of a T{}.
template <class T>
Key<T> unless_default(Key<T> key) {
  key.write = [write = key.write](const T& from) {
    std::string text = write(from);
    return text == write(T{}) ? std::string() : text;
  };
  return key;
}

/// What [train] says for all policies, or in other words: the reader puts it elsewhere.
Key<Training> never_written(Key<Training> key) {
  key.write = [](const Training&) { return std::string(); };
  return key;
}

Key<NoiseSpec> for_private(Key<NoiseSpec> key) {
  key.write = [write = key.write](const NoiseSpec& from) {
    return from.policy == NoiseKind::clipped ? write(from) : std::string();
  };
  return key;
}

Key<Training> momentum_key() {
  return {"momentum",
          "number in [0, 1)",
          "weight of earlier gradients in a step; for the policies none and private",
          [](Training& to, const TomlTable& table, const std::string& key) {
            to.momentum = table.number(key);
            if (!(to.momentum >= 0.0 && to.momentum < 1.0)) {
              refuse(table, key, fmt::format("{}", to.momentum), "a number from 0 to below 1");
            }
          },
          [](const Training& from) { return toml_text(from.momentum); },
          {},
          false,
          {},
          KeyShape::number};
}

Key<NoiseSpec> layer_clips_key() {
  return {"layer_clips", "list of numbers > 0",
          "private, per_layer: clip of each layer with parameters (default: clip / sqrt(layers))",
          [](NoiseSpec& to, const TomlTable& table, const std::string& key) {
            to.layer_clips = table.numbers(key);
            for (const double clip : to.layer_clips) {
              if (!(std::isfinite(clip) && clip > 0.0)) {
                refuse(table, key, fmt::format("{}", clip), "a list of finite numbers > 0");
              }
            }
          },
          [](const NoiseSpec& from) {
            if (from.layer_clips.empty()) return std::string();
            return fmt::format("[{}]", fmt::join(from.layer_clips, ", "));
          }};
}

/// A positive number that is not written while it is 0, which stands for not given.
template <class T>
Key<T> given_key(const char* key_name, const char* help, double T::*member) {
  return unless_default(positive_key(key_name, help, member));
}

}  // namespace

const Keys<Training>& private_training_keys() {
  static const Keys<Training> keys = {
      for_networks(never_written(integer_key(
          "epochs",
          "passes over D, instead of iterations: floor(N / batch_size) steps each, with batches = "
          "\"shuffled_all\" also the short last one",
          &Training::epochs, 1))),
      for_networks(never_written(
          with(positive_key("clip", "private policies: largest norm of a record's gradient",
                            &Training::clip),
               {"max_grad_norm", "l2_norm_clip"}))),
      for_networks(never_written(
          positive_key("noise_multiplier", "private policies: deviation of the noise over the clip",
                       &Training::noise_multiplier))),
      for_networks(unless_default(flag_key("gradient_canary",
                                           "audits of private policies: the differing record's "
                                           "gradient is the largest in the metric",
                                           &Training::gradient_canary))),
      for_networks(unless_default(momentum_key())),
      for_networks(unless_default(choice_key(
          "schedule", "how the learning rate goes down to zero", &Training::schedule,
          by_name({RateSchedule::constant, RateSchedule::linear, RateSchedule::cosine})))),
      for_networks(unless_default(
          integer_key("average_last", "the model is the mean of so many last iterates; 0: the last",
                      &Training::average_last, 0)))};
  return keys;
}

const Keys<NoiseSpec>& private_noise_keys() {
  static const Keys<NoiseSpec> keys = {
      for_private(choice_key(
          "metric", "private: the norm of the clip and the shape of the noise", &NoiseSpec::metric,
          by_name({PrivateMetric::isotropic, PrivateMetric::per_layer, PrivateMetric::whitened,
                   PrivateMetric::low_rank, PrivateMetric::released, PrivateMetric::input}))),
      for_private(
          with(given_key("clip", "private: largest norm of a record's gradient", &NoiseSpec::clip),
               {"max_grad_norm", "l2_norm_clip"})),
      for_private(layer_clips_key()),
      for_private(given_key("noise_multiplier", "private: deviation of the noise over the clip",
                            &NoiseSpec::noise_multiplier)),
      for_private(given_key("metric_mu",
                            "private, input: mu of the release of the inputs' second moments",
                            &NoiseSpec::metric_mu)),
      for_private(unless_default(
          positive_key("metric_floor", "private, input: floor of eigenvalues, in noise edges",
                       &NoiseSpec::metric_floor))),
      for_private(given_key("input_bound",
                            "private, input: bound on the norm of inputs (default: root of their "
                            "number)",
                            &NoiseSpec::input_bound)),
      for_private(unless_default(choice_key(
          "metric_layers", "private, input: the layers whose inputs are whitened",
          &NoiseSpec::metric_layers, by_name({MetricLayers::first, MetricLayers::all}))))};
  return keys;
}

}  // namespace sfumato::lab
