#include "lab/study/second_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/nn/kernel/matrix.hpp"

namespace sfumato::lab {

using Eigen::Index;
using kernel::padded;

namespace {

constexpr std::size_t kRows = 64;

}  // namespace

RowBlock::RowBlock(std::size_t rows, std::size_t width)
    : stride(padded(width)), values(rows * stride), starts(rows) {
  for (std::size_t r = 0; r < rows; ++r) starts[r] = values.data() + r * stride;
}

SecondMoments::SecondMoments(std::size_t positions, std::size_t width, double bound)
    : positions_(positions),
      width_(width),
      slots_(std::max<std::size_t>(1, kRows / positions)),
      longest_(bound * (1.0 - margin())),
      block_(slots_ * positions, width),
      product_(width * block_.stride),
      sum_(Eigen::MatrixXd::Zero(static_cast<Index>(width), static_cast<Index>(width))) {}

double SecondMoments::margin() const {
  const auto rows = static_cast<double>(slots_ * positions_);
  const double first_order = rows * 0x1p-24 * static_cast<double>(slots_) + 1e-6;
  return first_order * (1.0 + 2.0 * first_order);
}

void SecondMoments::clear(float* rows) const {
  std::fill_n(rows, positions_ * block_.stride, 0.0F);
}

void SecondMoments::scale(float* rows) const {
  double squares = 0.0;
  for (std::size_t p = 0; p < positions_; ++p) {
    for (std::size_t i = 0; i < width_; ++i) {
      const auto v = static_cast<double>(rows[p * block_.stride + i]);
      squares += v * v;
    }
  }
  const double mean_root = 1.0 / std::sqrt(static_cast<double>(positions_));
  const double norm = std::sqrt(squares) * mean_root;
  const auto factor = static_cast<float>(norm > longest_ ? longest_ / norm * mean_root : mean_root);
  // As with gradients: what is not finite, or is so long that the factor would not keep its digits.
  if (!(std::isfinite(norm) && factor >= std::numeric_limits<float>::min())) return clear(rows);
  for (std::size_t p = 0; p < positions_; ++p) {
    for (std::size_t i = 0; i < width_; ++i) rows[p * block_.stride + i] *= factor;
  }
}

/// The lower half, in strips of rows that end at the diagonal.
void SecondMoments::add_products(std::size_t rows) {
  constexpr std::size_t kStrip = 96;
  for (std::size_t from = 0; from < width_; from += kStrip) {
    const std::size_t count = std::min(kStrip, width_ - from);
    strip_.clear();
    for (std::size_t r = 0; r < rows; ++r) strip_.push_back(block_.starts[r] + from);
    kernel::transpose_times_matrix({strip_.data(), rows, count, block_.values.data(), block_.stride,
                                    padded(from + count), product_.data(), block_.stride});
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

}  // namespace sfumato::lab
