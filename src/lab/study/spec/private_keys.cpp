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

PrivateNoise* private_of(NoiseSpec& noise) { return std::get_if<PrivateNoise>(&noise.rule); }

TrainingMetric* metric_of(NoiseSpec& noise) {
  PrivateNoise* found = private_of(noise);
  return found == nullptr ? nullptr : &found->metric;
}

template <class Metric>
Metric* only_metric(NoiseSpec& noise) {
  TrainingMetric* metric = metric_of(noise);
  return metric == nullptr ? nullptr : std::get_if<Metric>(metric);
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

Key<PerLayerMetric> layer_clips_key() {
  return {"layer_clips", "list of numbers > 0",
          "private, per_layer: clip of each layer with parameters (default: clip / sqrt(layers))",
          [](PerLayerMetric& to, const TomlTable& table, const std::string& key) {
            to.clips = table.numbers(key);
            for (const double clip : to.clips) {
              if (!(std::isfinite(clip) && clip > 0.0)) {
                refuse(table, key, fmt::format("{}", clip), "a list of finite numbers > 0");
              }
            }
          },
          [](const PerLayerMetric& from) {
            if (from.clips.empty()) return std::string();
            return fmt::format("[{}]", fmt::join(from.clips, ", "));
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
  using Input = InputMomentsMetric;
  const auto input = [](const Key<Input>& key) { return part_key(key, only_metric<Input>); };
  static const Keys<NoiseSpec> keys = {
      alternative_key("metric", "private: the norm of the clip and the shape of the noise",
                      metric_of),
      part_key(with(given_key("clip", "private: largest norm of a record's gradient",
                              &PrivateNoise::clip),
                    {"max_grad_norm", "l2_norm_clip"}),
               private_of),
      part_key(layer_clips_key(), only_metric<PerLayerMetric>),
      part_key(given_key("noise_multiplier", "private: deviation of the noise over the clip",
                         &PrivateNoise::noise_multiplier),
               private_of),
      input(given_key("metric_mu",
                      "private, input: mu of the release of the inputs' second moments",
                      &Input::mu)),
      input(unless_default(positive_key(
          "metric_floor", "private, input: floor of eigenvalues, in noise edges", &Input::floor))),
      input(given_key("input_bound",
                      "private, input: bound on the norm of inputs (default: root of their "
                      "number)",
                      &Input::input_bound)),
      input(unless_default(
          choice_key("metric_layers", "private, input: the layers whose inputs are whitened",
                     &Input::layers, by_name({MetricLayers::first, MetricLayers::all}))))};
  return keys;
}

void require_private_keys(const NoiseSpec& noise, const TomlTable& table) {
  if (!noise.is_private()) {
    for (const std::string& key : names_of(private_noise_keys())) {
      if (!table.has(key)) continue;
      throw InvalidArgument(fmt::format("`{}` means nothing for the policy {}: it does not clip",
                                        key, name(noise.rule)),
                            "Use policy = \"private\", or remove it", table.where(key));
    }
    return;
  }
  const TrainingMetric& metric = noise.private_noise().metric;
  const bool shaped = noise.private_noise().shape() != nullptr;
  if (shaped != table.has("covariance")) {
    throw InvalidArgument(
        shaped ? fmt::format("the metric {} needs `covariance`", name(metric))
               : fmt::format("`covariance` means nothing for the metric {}", name(metric)),
        shaped ? "Name a file written by `sfumato design` without private data"
               : "Use metric = \"whitened\" or \"low_rank\", or remove it",
        shaped ? noise.where : table.where("covariance"));
  }
  const auto require_metric = [&](std::string_view wanted, const char* key) {
    if (!table.has(key) || name(metric) == wanted) return;
    throw InvalidArgument(fmt::format("`{}` means nothing for the metric {}", key, name(metric)),
                          fmt::format("Use metric = \"{}\", or remove it", wanted),
                          table.where(key));
  };
  for (const char* key : {"metric_mu", "metric_floor", "input_bound", "metric_layers"}) {
    require_metric(InputMomentsMetric::kName, key);
  }
  require_metric(PerLayerMetric::kName, "layer_clips");
}

}  // namespace sfumato::lab
