#include "sfumato/study/input_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/nn/aligned_floats.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/study/first_layer_rows.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using kernel::padded;

/// What the slots of a world hold; nothing where they are empty.
std::vector<std::optional<std::uint32_t>> held_by(const Slots& slots, const World& world) {
  std::vector<std::optional<std::uint32_t>> held(slots.records.begin(), slots.records.end());
  for (const SlotChange& change : world.changes) {
    held[change.slot].reset();
    if (!change.empty) held[change.slot] = change.record;
  }
  return held;
}

/// Rows of records, one below the other, and where each begins.
struct RowBlock {
  RowBlock(std::size_t rows, std::size_t width)
      : stride(padded(width)), values(rows * stride), starts(rows) {
    for (std::size_t r = 0; r < rows; ++r) starts[r] = values.data() + r * stride;
  }
  std::size_t stride;
  AlignedFloats values;
  std::vector<const float*> starts;
};

/// sum over slots of the mean over positions of a a^T, a record's part of which is positive semi-definite with a trace of at most bound^2. Products are
/// added in single precision within a block of slots and in double precision between blocks. In the other world one slot holds something
/// else, so that one block changes: with n rows of R slots the rounding of its sums, of both worlds together, is at most
/// 2 n u R bound^2 in the Frobenius norm (|fl(sum) - sum| <= n u sum |a_i a_j| for each entry, and the norm of sum |a| |a|^T is at most
/// sum |a|^2). Records are scaled down by as much, and the sensitivity is that of exact sums.
class SecondMoments {
 public:
  SecondMoments(const FirstLayerRows& layer, double bound)
      : layer_(layer),
        positions_(layer.positions()),
        width_(layer.width()),
        slots_(std::max<std::size_t>(1, kRows / positions_)),
        longest_(bound * (1.0 - margin())),
        block_(slots_ * positions_, width_),
        product_(width_ * block_.stride),
        sum_(Eigen::MatrixXd::Zero(static_cast<Index>(width_), static_cast<Index>(width_))) {}

  /// Slots whose products are added before they join the sum.
  [[nodiscard]] std::size_t slots() const { return slots_; }

  void add(const LabelledSet& set, std::span<const std::optional<std::uint32_t>> held) {
    std::size_t rows = 0;
    for (const std::optional<std::uint32_t>& record : held) {
      float* to = block_.values.data() + rows * block_.stride;
      if (record) {
        layer_.read(set, *record, to, block_.stride);
        scale(to);
      } else {
        std::fill_n(to, positions_ * block_.stride, 0.0F);
      }
      rows += positions_;
    }
    // The lower half, in strips of rows that end at the diagonal.
    constexpr std::size_t kStrip = 96;
    for (std::size_t from = 0; from < width_; from += kStrip) {
      const std::size_t count = std::min(kStrip, width_ - from);
      strip_.clear();
      for (std::size_t r = 0; r < rows; ++r) strip_.push_back(block_.starts[r] + from);
      kernel::transpose_times_matrix({strip_.data(), rows, count, block_.values.data(),
                                      block_.stride, padded(from + count), product_.data(),
                                      block_.stride});
      for (std::size_t i = 0; i < count; ++i) {
        const float* from_product = product_.data() + i * block_.stride;
        for (std::size_t j = 0; j <= from + i; ++j) {
          // By columns of the transpose: neighbours in memory.
          sum_(static_cast<Index>(j), static_cast<Index>(from + i)) +=
              static_cast<double>(from_product[j]);
        }
      }
    }
  }

  /// The lower half of the sum.
  [[nodiscard]] Eigen::MatrixXd sum() const { return sum_.transpose(); }

 private:
  static constexpr std::size_t kRows = 64;

  [[nodiscard]] double margin() const {
    const auto rows = static_cast<double>(slots_ * positions_);
    return rows * 0x1p-24 * static_cast<double>(slots_) + 1e-6;
  }

  void scale(float* rows) const {
    double squares = 0.0;
    for (std::size_t p = 0; p < positions_; ++p) {
      for (std::size_t i = 0; i < width_; ++i) {
        const auto v = static_cast<double>(rows[p * block_.stride + i]);
        squares += v * v;
      }
    }
    const double mean_root = 1.0 / std::sqrt(static_cast<double>(positions_));
    const double norm = std::sqrt(squares) * mean_root;
    if (!std::isfinite(norm)) {  // as with gradients
      std::fill_n(rows, positions_ * block_.stride, 0.0F);
      return;
    }
    const auto factor =
        static_cast<float>(norm > longest_ ? longest_ / norm * mean_root : mean_root);
    for (std::size_t p = 0; p < positions_; ++p) {
      for (std::size_t i = 0; i < width_; ++i) rows[p * block_.stride + i] *= factor;
    }
  }

  FirstLayerRows layer_;
  std::size_t positions_, width_, slots_;
  double longest_;
  RowBlock block_;
  AlignedFloats product_;
  std::vector<const float*> strip_;
  Eigen::MatrixXd sum_;  ///< the upper half
};

NoisyMoments gaussian_moments(const FirstLayerRows& layer, const LabelledSet& set,
                              std::span<const std::optional<std::uint32_t>> held, double bound,
                              double mu, NeighbouringRelation relation, ReleaseBits& bits,
                              Observer& observer) {
  SecondMoments moments(layer, bound);
  for (std::size_t from = 0; from < held.size(); from += moments.slots()) {
    if (observer.stop_requested()) throw Stopped{};
    moments.add(set, held.subspan(from, std::min(moments.slots(), held.size() - from)));
  }
  return noisy_moments(moments.sum(), bound, mu, relation, bits);
}

/// What slots hold, a row each, for exact sums: integers are added exactly, and a row of zeros need not be there.
RowMajor rows_of(FirstLayerRows layer, const LabelledSet& set,
                 std::span<const std::optional<std::uint32_t>> held) {
  if (layer.convolution()) {
    throw InvalidArgument("exact noise for second moments of the patches of a convolution",
                          "Train without `hardened`, or with another metric");
  }
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

/// Records that are moved at a time.
constexpr std::size_t kBlock = 64;
/// Numbers of a whitened set: 8 GiB of floats.
constexpr std::size_t kMostNumbers = std::size_t{1} << 31;

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
  return metric_of(release_moments(inputs, bound, mu, relation, count, mode, bits, observer), floor,
                   count);
}

InputMetric release_input_metric(const Network& network, const LabelledSet& set, const Slots& slots,
                                 const World& world, const NoisePolicy& policy,
                                 NeighbouringRelation relation, NoiseMode mode, ReleaseBits& bits,
                                 Observer& observer) {
  const FirstLayerRows layer(network);
  const auto held = held_by(slots, world);
  // N is public: an empty slot is a row of zeros.
  const auto count = static_cast<double>(slots.count());
  const double bound =
      policy.input_bound > 0.0 ? policy.input_bound : std::sqrt(static_cast<double>(layer.width()));
  if (mode == NoiseMode::grid) {
    return input_metric_of(rows_of(layer, set, held), bound, policy.metric_mu, policy.metric_floor,
                           relation, count, mode, bits, observer);
  }
  return metric_of(
      gaussian_moments(layer, set, held, bound, policy.metric_mu, relation, bits, observer),
      policy.metric_floor, count);
}

Network whitened_network(const Network& network) { return FirstLayerRows(network).network(); }

LabelledSet whitened(const Network& network, const LabelledSet& set, const InputMetric& metric,
                     std::span<const std::uint32_t> records) {
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

std::vector<float> unwhitened(const Network& network, std::vector<float> parameters,
                              const InputMetric& metric) {
  const ParameterBlock& first = network.blocks().front();
  using Weights = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Weights> weights(parameters.data() + first.offset, static_cast<Index>(first.inputs),
                              static_cast<Index>(first.outputs));
  weights = (metric.root * weights.cast<double>()).cast<float>();
  return parameters;
}

}  // namespace sfumato
