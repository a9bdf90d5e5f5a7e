#include "lab/study/input_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/study/layer_rows.hpp"
#include "lab/study/second_moments.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;
using kernel::padded;

/// What the slots of a world hold; nothing where they are empty.
std::vector<std::optional<std::uint32_t>> held_by(const WorldSlots& of) {
  std::vector<std::optional<std::uint32_t>> held(of.slots.records.begin(), of.slots.records.end());
  for (const SlotChange& change : of.world.changes) {
    held[change.slot].reset();
    if (!change.empty) held[change.slot] = change.record;
  }
  return held;
}

NoisyMoments gaussian_moments(FirstLayerRows layer, const LabelledSet& set,
                              std::span<const std::optional<std::uint32_t>> held,
                              const MomentsBudget& budget, const ReleaseNoise& noise,
                              Observer& observer) {
  SecondMoments moments(layer.positions(), layer.width(), budget.bound);
  for (std::size_t from = 0; from < held.size(); from += moments.slots()) {
    if (observer.stop_requested()) throw Stopped{};
    moments.add(std::min(moments.slots(), held.size() - from),
                [&](std::size_t i, float* rows, std::size_t stride) {
                  const std::optional<std::uint32_t>& record = held[from + i];
                  if (record) layer.read(set, *record, rows, stride);
                  return record.has_value();
                });
  }
  return noisy_moments(moments.sum(), budget.bound, budget.mu, noise.relation, noise.bits);
}

/// What slots hold, a row each, for exact sums: integers are added exactly, and a row of zeros need not be there.
RowMajor rows_of(FirstLayerRows layer, const LabelledSet& set,
                 std::span<const std::optional<std::uint32_t>> held) {
  layer.require_exact_moments();
  const auto width = static_cast<Index>(layer.width());
  RowMajor rows(static_cast<Index>(held.size()), width);
  std::vector<float> one(layer.width());
  Index count = 0;
  for (const std::optional<std::uint32_t>& record : held) {
    if (!record) continue;
    layer.read(set, *record, one.data(), one.size());
    rows.row(count++) = Eigen::Map<const Eigen::RowVectorXf>(one.data(), width).cast<double>();
  }
  return rows.topRows(count);
}

/// Records that are moved at a time.
constexpr std::size_t kBlock = 64;
/// Numbers of a whitened set: 8 GiB of floats.
constexpr std::size_t kMostNumbers = std::size_t{1} << 31;

}  // namespace

InputMetric metric_of(const NoisyMoments& moments, double floor, double count) {
  const SymmetricEigen eigen(moments.sum);
  if (!eigen.converged()) {
    throw NumericalFailure("the eigenvalues of the released moments were not found",
                           "Give more of the budget to the metric, or use another one");
  }
  const auto size = static_cast<double>(moments.sum.cols());
  InputMetric metric;
  metric.noise_std = moments.noise_std;
  metric.ridge = floor * moments.noise_std * std::sqrt(2.0 * size) / count;
  const Eigen::ArrayXd kept = eigen.eigenvalues().array().max(0.0) / count;
  metric.effective_dimension = std::max(1.0, (kept / (kept + metric.ridge)).sum());
  const Eigen::VectorXd roots = (kept + metric.ridge).sqrt().inverse().matrix();
  metric.root = eigen.eigenvectors() * roots.asDiagonal() * eigen.eigenvectors().transpose();
  return metric;
}

InputMetric input_metric_of(RowMajor inputs, const MomentsBudget& budget, double floor,
                            const ReleaseNoise& noise, Observer& observer) {
  if (inputs.cols() == 0) {
    throw InvalidArgument("inputs without coordinates", "Give a number for each of them");
  }
  const double bound = require_positive("the bound of the inputs", budget.bound);
  require_positive("mu of the metric", budget.mu);
  require_positive("the floor of the metric", floor);
  require_positive("the number of records", budget.rows);
  for (Index r = 0; r < inputs.rows(); ++r) {
    const double norm = inputs.row(r).norm();
    // As with gradients: to refuse would tell of the record.
    if (!std::isfinite(norm)) inputs.row(r).setZero();
    // A little below, so that rounding does not make it longer.
    else if (norm > bound)
      inputs.row(r) *= bound * (1.0 - 1e-9) / norm;
  }
  return metric_of(release_moments(inputs, budget, noise, observer), floor, budget.rows);
}

std::vector<double> moment_mus(const InputMomentsMetric& metric, const Network& network) {
  if (metric.layers == MetricLayers::first) return {metric.mu};
  double inputs = 0.0;
  for (const ParameterBlock& block : network.blocks()) inputs += static_cast<double>(block.inputs);
  std::vector<double> mus;
  for (const ParameterBlock& block : network.blocks()) {
    // A little less, so that rounding does not make the sum of squares larger.
    mus.push_back(metric.mu * std::sqrt(static_cast<double>(block.inputs) / inputs) *
                  (1.0 - 1e-12));
  }
  return mus;
}

InputMetric release_input_metric(const Network& network, const WorldSlots& records,
                                 const InputMomentsMetric& metric, const ReleaseNoise& noise,
                                 Observer& observer) {
  const FirstLayerRows layer(network);
  const auto held = held_by(records);
  const double bound =
      metric.input_bound > 0.0 ? metric.input_bound : std::sqrt(static_cast<double>(layer.width()));
  // N is public: an empty slot is a row of zeros.
  const MomentsBudget budget{bound, moment_mus(metric, network).front(),
                             static_cast<double>(records.slots.count())};
  if (noise.mode == NoiseMode::grid) {
    return input_metric_of(rows_of(layer, records.set, held), budget, metric.floor, noise,
                           observer);
  }
  return metric_of(gaussian_moments(layer, records.set, held, budget, noise, observer),
                   metric.floor, budget.rows);
}

LabelledSet whitened(const Network& network, const LabelledSet& set, const InputMetric& metric,
                     std::span<const std::uint32_t> records, const Observer& observer) {
  FirstLayerRows layer(network);
  std::vector<std::uint32_t> all(records.begin(), records.end());
  if (all.empty()) {
    all.resize(set.count());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
  }
  const ImageShape shape = layer.shape();
  if (all.size() > kMostNumbers / shape.size()) {
    throw InvalidArgument(
        fmt::format("the metric `input` needs {} numbers for each of {} records, more than 8 GiB",
                    shape.size(), all.size()),
        "Use fewer records, a larger stride, or another metric");
  }
  LabelledSet result{set.name, shape, set.classes, {}, {}, {}, set.files, set.checksum};
  for (const std::uint32_t record : all) result.labels.push_back(set.labels[record]);
  const std::size_t positions = layer.positions(), width = layer.width();
  RowBlock rows(kBlock * positions, width), moved(kBlock * positions, width);
  AlignedFloats root(width * rows.stride);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      root.data()[i * rows.stride + j] =
          static_cast<float>(metric.root(static_cast<Index>(i), static_cast<Index>(j)));
    }
  }
  std::vector<float> values(all.size() * shape.size()), pixels(shape.size());
  for (std::size_t from = 0; from < all.size(); from += kBlock) {
    if (observer.stop_requested()) throw Stopped{};
    const std::size_t some = std::min(kBlock, all.size() - from);
    for (std::size_t r = 0; r < some; ++r) {
      layer.read(set, all[from + r], rows.values.data() + r * positions * rows.stride, rows.stride);
    }
    kernel::rows_times_matrix({rows.starts.data(), some * positions, 1, width, 0, root.data(),
                               rows.stride, rows.stride, nullptr, moved.values.data(),
                               moved.stride});
    for (std::size_t r = 0; r < some; ++r) {
      for (std::size_t p = 0; p < positions; ++p) {
        std::copy_n(moved.starts[r * positions + p], width, pixels.data() + p * width);
      }
      pixels_to_planes(shape, pixels.data(), values.data() + (from + r) * shape.size());
    }
  }
  result.values = std::move(values);
  return result;
}

}  // namespace sfumato::lab
