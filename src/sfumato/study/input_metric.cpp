#include "sfumato/study/input_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

/// Records that are moved at a time.
constexpr std::size_t kBlock = 4096;

/// Inputs channel by channel, as sets store them.
void read_inputs(const LabelledSet& set, std::span<const std::uint32_t> records, RowMajor& rows) {
  std::vector<float> values(set.shape.size());
  for (std::size_t r = 0; r < records.size(); ++r) {
    standardised(set, records[r], values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows(static_cast<Index>(r), static_cast<Index>(i)) = static_cast<double>(values[i]);
    }
  }
}

/// Where the first layer has the input that a set stores as number i: pixel by pixel, channels fastest.
std::size_t place_of(const ImageShape& shape, std::size_t i) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t plane = shape.size() / channels;
  return i % plane * channels + i / plane;
}

/// What the slots of a world hold, without the empty ones.
std::vector<std::uint32_t> records_in(const Slots& slots, const World& world) {
  std::vector<std::uint32_t> held = slots.records;
  std::vector<bool> empty(held.size(), false);
  for (const SlotChange& change : world.changes) {
    empty[change.slot] = change.empty;
    if (!change.empty) held[change.slot] = change.record;
  }
  std::vector<std::uint32_t> records;
  for (std::size_t slot = 0; slot < held.size(); ++slot) {
    if (!empty[slot]) records.push_back(held[slot]);
  }
  return records;
}

void require_linear_first(const Network& network) {
  for (const NamedLayer& named : network.layers()) {
    if (std::holds_alternative<Linear>(named.layer)) return;
    if (std::holds_alternative<Flatten>(named.layer)) continue;
    throw InvalidArgument(
        fmt::format("the metric `input` with the layer `{}` before the first linear one",
                    named.name),
        "Use it for networks that begin with a linear layer");
  }
}

}  // namespace

InputMetric input_metric_of(RowMajor inputs, double bound, double mu, double floor,
                            NeighbouringRelation relation, double count, NoiseMode mode,
                            ReleaseBits& bits, Observer& observer) {
  if (inputs.cols() == 0) {
    throw InvalidArgument("inputs without coordinates", "Give a number for each of them");
  }
  require_positive("the bound of the inputs", bound);
  require_positive("mu of the metric", mu);
  require_positive("the floor of the metric", floor);
  require_positive("the number of records", count);
  for (Index r = 0; r < inputs.rows(); ++r) {
    const double norm = inputs.row(r).norm();
    // As with gradients: to refuse would tell of the record.
    if (!std::isfinite(norm)) inputs.row(r).setZero();
    // A little below, so that rounding does not make it longer.
    else if (norm > bound)
      inputs.row(r) *= bound * (1.0 - 1e-9) / norm;
  }
  const NoisyMoments moments =
      release_moments(inputs, bound, mu, relation, count, mode, bits, observer);
  const SymmetricEigen eigen(moments.sum);
  if (!eigen.converged()) {
    throw NumericalFailure("the eigenvalues of the released moments were not found",
                           "Give more of the budget to the metric, or use another one");
  }
  InputMetric metric;
  metric.noise_std = moments.noise_std;
  metric.ridge =
      floor * moments.noise_std * std::sqrt(2.0 * static_cast<double>(inputs.cols())) / count;
  const Eigen::ArrayXd kept = eigen.eigenvalues().array().max(0.0) / count;
  metric.effective_dimension = std::max(1.0, (kept / (kept + metric.ridge)).sum());
  const Eigen::VectorXd roots = (kept + metric.ridge).sqrt().inverse().matrix();
  metric.root = eigen.eigenvectors() * roots.asDiagonal() * eigen.eigenvectors().transpose();
  return metric;
}

InputMetric release_input_metric(const Network& network, const LabelledSet& set, const Slots& slots,
                                 const World& world, const NoisePolicy& policy,
                                 NeighbouringRelation relation, NoiseMode mode, ReleaseBits& bits,
                                 Observer& observer) {
  require_linear_first(network);
  const std::vector<std::uint32_t> records = records_in(slots, world);
  const auto n = static_cast<Index>(records.size()), d = static_cast<Index>(set.shape.size());
  // N is public: an empty slot is a row of zeros, which need not be there.
  const double bound =
      policy.input_bound > 0.0 ? policy.input_bound : std::sqrt(static_cast<double>(d));
  RowMajor rows(n, d);
  read_inputs(set, records, rows);
  return input_metric_of(std::move(rows), bound, policy.metric_mu, policy.metric_floor, relation,
                         static_cast<double>(slots.count()), mode, bits, observer);
}

LabelledSet whitened(const LabelledSet& set, const InputMetric& metric,
                     std::span<const std::uint32_t> records) {
  std::vector<std::uint32_t> all(records.begin(), records.end());
  if (all.empty()) {
    all.resize(set.count());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
  }
  LabelledSet result{set.name, set.shape, set.classes, {}, {}, {}, set.files, set.checksum};
  for (const std::uint32_t record : all) result.labels.push_back(set.labels[record]);
  std::vector<float> values(all.size() * set.shape.size());
  const auto d = static_cast<Index>(set.shape.size());
  for (std::size_t from = 0; from < all.size(); from += kBlock) {
    const auto some = std::span(all).subspan(from, std::min(kBlock, all.size() - from));
    RowMajor rows(static_cast<Index>(some.size()), d);
    read_inputs(set, some, rows);
    const RowMajor moved = rows * metric.root;
    std::transform(moved.data(), moved.data() + moved.size(),
                   values.begin() + static_cast<std::ptrdiff_t>(from * set.shape.size()),
                   [](double v) { return static_cast<float>(v); });
  }
  result.values = std::move(values);
  return result;
}

std::vector<float> unwhitened(const Network& network, std::vector<float> parameters,
                              const InputMetric& metric) {
  const ParameterBlock& first = network.blocks().front();
  const ImageShape shape{network.input().channels, network.input().height, network.input().width};
  const auto inputs = static_cast<Index>(first.inputs), outputs = static_cast<Index>(first.outputs);
  Eigen::MatrixXd weights(inputs, outputs);
  const auto at = [&](Index i, Index n) {
    return first.offset + place_of(shape, static_cast<std::size_t>(i)) * first.outputs +
           static_cast<std::size_t>(n);
  };
  for (Index i = 0; i < inputs; ++i) {
    for (Index n = 0; n < outputs; ++n) weights(i, n) = static_cast<double>(parameters[at(i, n)]);
  }
  weights = metric.root * weights;
  for (Index i = 0; i < inputs; ++i) {
    for (Index n = 0; n < outputs; ++n) parameters[at(i, n)] = static_cast<float>(weights(i, n));
  }
  return parameters;
}

}  // namespace sfumato
