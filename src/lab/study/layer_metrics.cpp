#include "lab/study/layer_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "lab/nn/bundle.hpp"
#include "lab/study/layer_rows.hpp"
#include "lab/study/second_moments.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;

/// Records whose way through the network is computed at a time.
constexpr std::size_t kRecords = 64;
/// Records that are imagined to find the length of a layer's inputs.
constexpr std::size_t kImagined = 256;

std::string layer_name(const Network& network, std::size_t block) {
  return network.layers()[network.blocks()[block].layer].name;
}

std::shared_ptr<const std::vector<float>> single(const Eigen::MatrixXd& root) {
  auto values = std::make_shared<std::vector<float>>();
  for (Index i = 0; i < root.rows(); ++i) {
    for (Index j = 0; j < root.cols(); ++j) values->push_back(static_cast<float>(root(i, j)));
  }
  return values;
}

/// What a layer reads of records, at fixed parameters.
class LayerInputs {
 public:
  LayerInputs(const Network& network, std::span<const float> parameters, std::size_t block)
      : block_(block), rows_(network, block), bundle_(network, 1) {
    bundle_.set_parameters(0, parameters);
  }

  [[nodiscard]] const LayerRows& rows() const { return rows_; }

  /// For records of the network, in its own storage order with eight floats behind them.
  void compute(std::span<const float* const> records) {
    values_.resize(records.size() * rows_.inputs());
    bundle_.block_inputs({records.size(), records.data()}, block_, values_.data());
  }
  /// Writes the rows of one of those records.
  void read(std::size_t record, float* rows, std::size_t stride) {
    rows_.read(values_.data() + record * rows_.inputs(), rows, stride);
  }

 private:
  std::size_t block_;
  LayerRows rows_;
  Bundle bundle_;
  std::vector<float> values_;
};

/// The layers from that of block `first` on, as a network.
Network rest_of(const Network& network, std::size_t first) {
  const std::size_t layer = network.blocks()[first].layer;
  return {network.before(layer),
          {network.layers().begin() + static_cast<std::ptrdiff_t>(layer), network.layers().end()}};
}

/// The root of the mean square of what a layer reads where the whitened inputs of the layer before are normal and independent, with the variance
/// that the released metric leaves on average. Initial weights have no direction, so that little else of the inputs matters.
double imagined_length(const Network& network, std::span<const float> start, std::size_t block,
                       const InputMetric& before) {
  const Network rest = rest_of(network, block - 1);
  LayerInputs inputs(rest, start.subspan(network.blocks()[block - 1].offset), 1);
  const std::size_t size = rest.input().size(), stride = size + 8;
  const auto deviation = static_cast<float>(
      std::sqrt(before.effective_dimension / static_cast<double>(before.root.rows())));
  std::vector<float> records(kImagined * stride);
  const Stream normals(StreamKey(0, Purpose::simulation, {block}));
  std::vector<const float*> starts;
  for (std::size_t r = 0; r < kImagined; ++r) {
    const std::span<float> record = std::span(records).subspan(r * stride, size);
    normals.fill_normal(r, 0, record);
    for (float& v : record) v *= deviation;
    starts.push_back(record.data());
  }
  inputs.compute(starts);
  const std::size_t positions = inputs.rows().positions(), width = inputs.rows().width();
  std::vector<float> rows(positions * width);
  double squares = 0.0;
  for (std::size_t r = 0; r < kImagined; ++r) {
    inputs.read(r, rows.data(), width);
    for (const float v : rows) squares += static_cast<double>(v) * static_cast<double>(v);
  }
  return std::sqrt(squares / static_cast<double>(kImagined * positions));
}

/// What each slot of the only world holds, as a record of the store; nothing where it is empty.
std::vector<std::optional<std::uint32_t>> held_by(const TrainingData& data) {
  std::vector<std::optional<std::uint32_t>> held(data.slots);
  for (std::uint32_t s = 0; s < data.slots; ++s) held[s] = s;
  for (const TrainingData::Change& change : data.changes) {
    held[change.slot].reset();
    if (!change.empty) held[change.slot] = change.record;
  }
  return held;
}

/// Calls use(first slot, held) for blocks of slots whose inputs are computed. An empty slot has the place of the record that is not there, so that
/// every other one is computed as in the world where it is.
template <class Use>
void each_block(LayerInputs& inputs, const TrainingData& data, Observer& observer, const Use& use) {
  const std::vector<std::optional<std::uint32_t>> held = held_by(data);
  const std::size_t stride = data.store.shape().size() + 8;
  std::vector<float> room(kRecords * stride);
  std::vector<const float*> starts;
  for (std::size_t from = 0; from < held.size(); from += kRecords) {
    if (observer.stop_requested()) throw Stopped{};
    const std::span some = std::span(held).subspan(from, std::min(kRecords, held.size() - from));
    starts.clear();
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::size_t record = some[i] ? *some[i] : from + i;
      starts.push_back(data.store.inputs(record, room.data() + i * stride));
    }
    inputs.compute(starts);
    use(some);
  }
}

NoisyMoments gaussian_moments(LayerInputs& inputs, const TrainingData& data,
                              const MomentsBudget& budget, const ReleaseNoise& noise,
                              Observer& observer) {
  SecondMoments moments(inputs.rows().positions(), inputs.rows().width(), budget.bound);
  each_block(inputs, data, observer, [&](std::span<const std::optional<std::uint32_t>> held) {
    for (std::size_t from = 0; from < held.size(); from += moments.slots()) {
      moments.add(std::min(moments.slots(), held.size() - from),
                  [&](std::size_t i, float* rows, std::size_t stride) {
                    if (held[from + i]) inputs.read(from + i, rows, stride);
                    return held[from + i].has_value();
                  });
    }
  });
  return noisy_moments(moments.sum(), budget.bound, budget.mu, noise.relation, noise.bits);
}

/// What the layer reads of the records that are there, a row each, for exact sums.
RowMajor rows_of(LayerInputs& inputs, const TrainingData& data, Observer& observer) {
  const auto width = static_cast<Index>(inputs.rows().width());
  RowMajor rows(static_cast<Index>(data.slots), width);
  std::vector<float> one(inputs.rows().width());
  Index count = 0;
  each_block(inputs, data, observer, [&](std::span<const std::optional<std::uint32_t>> held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!held[i]) continue;
      inputs.read(i, one.data(), one.size());
      rows.row(count++) = Eigen::Map<const Eigen::RowVectorXf>(one.data(), width).cast<double>();
    }
  });
  return rows.topRows(count);
}

}  // namespace

void release_deeper_metrics(const Network& network, std::span<const float> start,
                            const TrainingData& data, const InputMomentsMetric& metric,
                            const ReleaseNoise& noise, Observer& observer, LayerMetrics& metrics) {
  const std::vector<double> mus = moment_mus(metric, network);
  // N is public: an empty slot is a row of zeros.
  const auto count = static_cast<double>(data.slots);
  for (std::size_t block = metrics.size(); block < mus.size(); ++block) {
    const Network known = whitened_network(network, metrics);
    const double bound = imagined_length(known, start, block, metrics.back());
    if (!(bound >= 1e-12 && bound <= 1e12)) {
      throw InvalidArgument(
          fmt::format("the metric `input` for the layer `{}`, whose inputs have the length {} at "
                      "the initial weights",
                      layer_name(network, block), bound),
          "Whiten the first layer only: metric_layers = \"first\". This message is made of second "
          "moments released before: count their metric_mu as spent");
    }
    LayerInputs inputs(known, start, block);
    const MomentsBudget budget{bound, mus[block], count};
    if (noise.mode == NoiseMode::grid) {
      inputs.rows().require_exact_moments();
      metrics.push_back(
          input_metric_of(rows_of(inputs, data, observer), budget, metric.floor, noise, observer));
      continue;
    }
    metrics.push_back(
        metric_of(gaussian_moments(inputs, data, budget, noise, observer), metric.floor, count));
  }
}

Network whitened_network(const Network& network, const LayerMetrics& metrics) {
  const Network first = FirstLayerRows(network).network();
  if (metrics.size() <= 1) return first;
  std::vector<NamedLayer> layers;
  std::size_t block = 0;
  for (std::size_t i = 0; i < first.layers().size(); ++i) {
    NamedLayer layer = first.layers()[i];
    if (block < first.blocks().size() && first.blocks()[block].layer == i) {
      if (block > 0 && block < metrics.size()) {
        FixedMap map{single(metrics[block].root)};
        if (auto* convolution = std::get_if<Conv2d>(&layer.layer)) {
          map.patches = *convolution;
          map.patches->channels = static_cast<int>(metrics[block].root.rows());
          *convolution = {convolution->channels, 1, 1, 0};
        }
        layers.push_back({layer.name + ".metric", std::move(map)});
      }
      ++block;
    }
    layers.push_back(std::move(layer));
  }
  return {first.input(), std::move(layers)};
}

std::vector<float> unwhitened(const Network& network, std::vector<float> parameters,
                              const LayerMetrics& metrics) {
  using Weights = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (std::size_t b = 0; b < metrics.size(); ++b) {
    const ParameterBlock& block = network.blocks()[b];
    Eigen::Map<Weights> weights(parameters.data() + block.offset, static_cast<Index>(block.inputs),
                                static_cast<Index>(block.outputs));
    weights = (metrics[b].root * weights.cast<double>()).cast<float>();
  }
  return parameters;
}

}  // namespace sfumato::lab
