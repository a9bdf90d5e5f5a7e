#include "lab/study/study_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lab/images/labelled_table.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::lab {
namespace {

/// Where features of public sets are kept.
std::string feature_cache() {
  const std::optional<std::string> cache = user_cache();
  return cache ? *cache + "/features" : std::string();
}

/// A table is read like `like`, if there is one.
LabelledSet read_part(const DataSpec& data, DataPart part, std::size_t records,
                      const DataPlaces& places, const LabelledSet* like) {
  LabelledSet set;
  if (data.is_table()) {
    LabelledTableOptions options;
    options.label = data.label;
    options.classes = data.classes;
    options.like = like;
    if (data.standardise == StandardiseBy::constants) options.standardisation = data.constants;
    return read_labelled_table(part == DataPart::train ? data.set : data.test, options);
  }
  set = load_data_set(data.set, part, records, places);
  if (data.standardise == StandardiseBy::none) set.standardisation = pixels_only();
  if (data.standardise == StandardiseBy::constants) {
    set.standardisation = data.constants;
    require_consistent(set);
  }
  return set;
}

LabelledSet load_part(const DataSpec& data, DataPart part, std::size_t records,
                      const DataPlaces& places, const LabelledSet* like = nullptr) {
  FeatureOptions features = data.features;
  if (features.kind == FeatureKind::file && part == DataPart::test) {
    features.file = data.test_features;
  }
  // Features of tables, which may be private, are not left in files.
  return located(data.where, [&] {
    return with_features(read_part(data, part, records, places, like), features,
                         data.is_table() ? std::string() : feature_cache());
  });
}

/// The last records of the set, taken out of it.
LabelledSet take_last(LabelledSet& set, std::size_t count, const Where& where) {
  if (count >= set.count()) {
    throw InvalidArgument(
        fmt::format("`validation` = {} of the {} records of {}", count, set.count(), set.name),
        "Leave some to train on", where);
  }
  LabelledSet last = set;
  const std::size_t kept = set.count() - count;
  last.labels.erase(last.labels.begin(), last.labels.end() - static_cast<std::ptrdiff_t>(count));
  set.labels.resize(kept);
  std::visit(
      [&](auto& values) {
        values.erase(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(kept * set.shape.size()));
      },
      last.values);
  std::visit([&](auto& values) { values.resize(kept * set.shape.size()); }, set.values);
  return last;
}

/// fc1, conv1, act1, pool1, flatten1: the n-th of its family.
std::string default_name(const LayerSpec& layer, std::map<std::string, int>& counts) {
  static const std::map<std::string, std::string> families = {
      {"linear", "fc"}, {"conv2d", "conv"}, {"max_pool", "pool"}, {"avg_pool", "pool"},
      {"relu", "act"},  {"tanh", "act"},    {"sigmoid", "act"},   {"flatten", "flatten"}};
  const std::string& family = families.at(layer.type);
  return fmt::format("{}{}", family, ++counts[family]);
}

Layer layer_of(const LayerSpec& layer) {
  if (layer.type == "linear") return Linear{layer.outputs};
  if (layer.type == "conv2d") {
    return Conv2d{layer.channels, layer.kernel, layer.stride, layer.padding};
  }
  if (layer.type == "max_pool") return MaxPool2d{layer.size};
  if (layer.type == "avg_pool") return AvgPool2d{layer.size};
  if (layer.type == "tanh") return Tanh{};
  if (layer.type == "sigmoid") return Sigmoid{};
  if (layer.type == "flatten") return Flatten{};
  return Relu{};
}

Network without_checks(const ModelSpec& model, const Shape& data) {
  if (!model.preset.empty()) {
    LayerSpec activation;
    activation.type = model.activation;
    return preset_network(model.preset, layer_of(activation));
  }
  std::vector<NamedLayer> layers;
  std::map<std::string, int> counts;
  for (const LayerSpec& layer : model.layers) {
    std::string name = default_name(layer, counts);
    if (!layer.name.empty()) name = layer.name;
    layers.push_back({std::move(name), layer_of(layer)});
  }
  return Network(data, std::move(layers), model.where);
}

/// The covariance of a policy's file, for this network.
Covariance covariance_of(const NoiseSpec& noise, const Network& network) {
  Covariance covariance = read_covariance(noise.covariance).covariance;
  const Where where = Where::in(fmt::format("{} ({})", noise.where.text(), noise.covariance));
  const auto parameters = static_cast<Eigen::Index>(network.parameter_count());
  if (dimension(covariance) != parameters) {
    throw InvalidArgument(fmt::format("the covariance has {} dimensions, but the network has {} "
                                      "parameters",
                                      dimension(covariance), parameters),
                          "Design the noise for this network", where);
  }
  return covariance;
}

/// `scale` times the covariance: a variance for each parameter, and a factor where it is diagonal plus low rank.
NoiseShape noise_shape(const Covariance& covariance, double scale) {
  const auto* factored = std::get_if<Factored>(&covariance);
  const Eigen::VectorXd diagonal = factored ? factored->diagonal : diagonal_of(covariance);
  std::vector<float> variances;
  variances.reserve(static_cast<std::size_t>(diagonal.size()));
  for (const double variance : diagonal) variances.push_back(static_cast<float>(scale * variance));
  NoiseShape shape{std::make_shared<const std::vector<float>>(std::move(variances))};
  if (factored == nullptr) return shape;
  std::vector<std::vector<float>> columns;
  for (Eigen::Index k = 0; k < factored->factor.cols(); ++k) {
    std::vector<float>& column = columns.emplace_back();
    for (const double entry : factored->factor.col(k)) {
      column.push_back(static_cast<float>(std::sqrt(scale) * entry));
    }
  }
  shape.factor = std::make_shared<const std::vector<std::vector<float>>>(std::move(columns));
  return shape;
}

/// The noise of the policy `fixed`, as the file has it.
NoiseShape fixed_shape(const NoiseSpec& noise, const Network& network) {
  const Covariance covariance = covariance_of(noise, network);
  if (!is_diagonal(covariance) && !std::holds_alternative<Factored>(covariance)) {
    throw InvalidArgument("the covariance is not diagonal, nor diagonal plus low rank",
                          "Design it with the form low_rank, diagonal, grouped or isotropic",
                          Where::in(fmt::format("{} ({})", noise.where.text(), noise.covariance)));
  }
  return noise_shape(covariance, 1.0);
}

/// The shape of private noise, of mean variance 1: its size is the multiplier's.
NoiseShape private_shape(const NoiseSpec& noise, bool low_rank, const Network& network) {
  const Covariance covariance = covariance_of(noise, network);
  const auto* factored = std::get_if<Factored>(&covariance);
  if (low_rank ? factored == nullptr : !is_diagonal(covariance)) {
    throw InvalidArgument(
        low_rank ? "the covariance is not diagonal plus low rank"
                 : "the covariance is not diagonal",
        low_rank ? "Design it in the form low_rank, or use metric = \"whitened\""
                 : "Design it in the form diagonal or grouped, or use metric = \"low_rank\"",
        noise.where);
  }
  const Eigen::VectorXd diagonal = low_rank ? factored->diagonal : diagonal_of(covariance);
  return noise_shape(covariance, 1.0 / diagonal.mean());
}

/// The rule with what it leaves to the network and to files.
NoiseRule completed(const NoiseSpec& noise, const Network& network) {
  NoiseRule rule = noise.rule;
  if (auto* fixed = std::get_if<FixedNoise>(&rule)) fixed->shape = fixed_shape(noise, network);
  auto* clipped = std::get_if<PrivateNoise>(&rule);
  if (clipped == nullptr) return rule;
  const auto layers = network.blocks().size();
  const double share = clipped->clip / std::sqrt(static_cast<double>(layers));
  std::visit(
      Overloaded{
          [&](PerLayerMetric& metric) {
            if (metric.clips.empty()) metric.clips.assign(layers, share);
          },
          [&](WhitenedMetric& metric) { metric.given = private_shape(noise, false, network); },
          [&](LowRankMetric& metric) { metric.given = private_shape(noise, true, network); },
          [](EuclideanMetric&) {}},
      clipped->metric);
  return rule;
}

}  // namespace

StudySets load_sets(const Study& study, const DataPlaces& places) {
  if (study.model.kind != ModelKind::network) {
    throw InvalidArgument(fmt::format("a {} model is not a network", name(study.model.kind)),
                          "Train it with `sfumato study run`", study.model.where);
  }
  const DataSpec& data = study.data;
  // A replacement comes from outside D.
  const std::size_t spare = study.adjacency.kind == Adjacency::replace
                                ? std::max<std::size_t>(1, study.audit.canaries)
                                : 0;
  // What is held out is the end of the set, so that all of it is read; a file of features has a row for each record.
  const bool all =
      data.records == 0 || data.validation != 0 || data.features.kind == FeatureKind::file;
  std::size_t wanted = all ? 0 : data.records + spare;
  if (study.adjacency.record) {
    wanted = wanted == 0 ? 0 : std::max<std::size_t>(wanted, *study.adjacency.record + 1UL);
  }
  StudySets sets{load_part(data, DataPart::train, wanted, places), std::nullopt};
  if (data.validation != 0) sets.test = take_last(sets.train, data.validation, data.where);
  const std::size_t records = data.records == 0 ? sets.train.count() : data.records;
  if (records > sets.train.count()) {
    throw InvalidArgument(fmt::format("`records` = {} exceeds the {} of {}", records,
                                      sets.train.count(), sets.train.name),
                          "Ask for fewer", data.where);
  }
  if (study.train.batches != BatchScheme::with_replacement && study.train.batch_size > records) {
    throw InvalidArgument(fmt::format("`batch_size` = {} is larger than the {} records of D",
                                      study.train.batch_size, records),
                          "Use smaller batches or more records", data.where);
  }
  const bool has_test = !data.is_table() || !data.test.empty();
  const bool has_features = data.features.kind != FeatureKind::file || !data.test_features.empty();
  if (!sets.test && has_test && has_features) {
    sets.test = load_part(data, DataPart::test, data.test_records, places, &sets.train);
    if (sets.test->shape != sets.train.shape) {
      throw InvalidArgument(fmt::format("test records are {}, but training records are {}",
                                        shape_text(sets.test->shape), shape_text(sets.train.shape)),
                            "Give tables with the same columns", data.where);
    }
    if (sets.test->classes > sets.train.classes) {
      throw InvalidArgument(fmt::format("test records have {} classes, but training records have "
                                        "{}",
                                        sets.test->classes, sets.train.classes),
                            "Set data.classes and the number of outputs of the network",
                            data.where);
    }
  }
  return sets;
}

SlotPair adjacent_pair(const Study& study, const LabelledSet& train, std::uint64_t pair) {
  const AdjacencySpec& adjacency = study.adjacency;
  const std::size_t records = study.data.records == 0 ? train.count() : study.data.records;
  Slots slots = random_slots(train, records, study.data.seed);
  if (adjacency.record && *adjacency.record >= train.count()) {
    throw InvalidArgument(fmt::format("there is no record {} among the {} of {}",
                                      *adjacency.record + 1ULL, train.count(), train.name),
                          "Records are numbered from 1", adjacency.where);
  }
  if (adjacency.kind == Adjacency::replace && records == train.count()) {
    throw InvalidArgument(
        fmt::format("D holds all {} records of {}, so none is left as a replacement", records,
                    train.name),
        "Set data.records to fewer, or kind = \"remove\"", adjacency.where);
  }
  const std::uint32_t slot = adjacency.record
                                 ? hold_record(slots, train, *adjacency.record)
                                 : random_positions(records, 1, study.data.seed, pair).front();
  return differ(train, std::move(slots), {&slot, 1}, {adjacency.kind, adjacency.canary},
                study.data.seed, pair);
}

SlotPair coin_slots(const Study& study, const LabelledSet& train) {
  const std::size_t records = study.data.records == 0 ? train.count() : study.data.records;
  Slots slots = random_slots(train, records, study.data.seed);
  if (study.audit.canaries == 0) {
    World none;
    for (std::uint32_t slot = 0; slot < records; ++slot) none.changes.push_back({slot, true, 0, 0});
    return {std::move(slots), std::move(none)};
  }
  if (study.audit.canaries >= records) {
    throw InvalidArgument(
        fmt::format("{} canaries among {} records of D", study.audit.canaries, records),
        "Give D more records than canaries", study.audit.where);
  }
  const auto chosen = random_positions(records, study.audit.canaries, study.data.seed, 0);
  return differ(train, std::move(slots), chosen, {study.adjacency.kind, study.adjacency.canary},
                study.data.seed, 0);
}

std::shared_ptr<const TrainingData> training_data(const LabelledSet& train, const SlotPair& pair) {
  return std::make_shared<const TrainingData>(train, pair.slots,
                                              std::vector<World>{World{}, pair.other});
}

Network network_of(const ModelSpec& model, const LabelledSet& train) {
  const Shape data{train.shape.channels, train.shape.height, train.shape.width};
  Network network = without_checks(model, data);
  if (network.input() != data) {
    throw InvalidArgument(
        fmt::format("the first layer `{}` of {} takes inputs of {}, but those of {} are {}",
                    network.layers().front().name, model.preset, network.input().text(), train.name,
                    data.text()),
        "Choose another preset, or give [[model.layers]]", model.where);
  }
  if (network.classes() < static_cast<std::size_t>(train.classes)) {
    throw InvalidArgument(
        fmt::format("the last layer `{}` has {} outputs, but {} has {} classes",
                    network.layers().back().name, network.classes(), train.name, train.classes),
        "Give it one output per class", model.where);
  }
  return network;
}

std::vector<NoisePolicy> policies_of(const Study& study, const Network& network) {
  std::vector<NoisePolicy> policies;
  for (const NoiseSpec& noise : study.noise) {
    NoisePolicy policy{noise.name, completed(noise, network)};
    require_valid(policy, network, noise.where);
    policies.push_back(std::move(policy));
  }
  return policies;
}

std::string inputs_text(const Study& study, const StudySets& sets) {
  std::string text = fmt::format("[inputs]\ntrain = \"{}\"\n", sets.train.checksum);
  if (sets.test) text += fmt::format("test = \"{}\"\n", sets.test->checksum);
  for (const NoiseSpec& noise : study.noise) {
    if (noise.covariance.empty()) continue;
    text += fmt::format("\"covariance of {}\" = \"{}\"\n", noise.name,
                        sha256(read_file(noise.covariance)));
  }
  return text;
}

}  // namespace sfumato::lab
