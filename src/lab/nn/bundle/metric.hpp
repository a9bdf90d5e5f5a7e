#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {

/// What one block of a diagonal metric weighs the squares of a gradient with: one over the variance of each parameter's noise. Two layouts,
/// as the norms need them.
class BlockMetric {
 public:
  BlockMetric() = default;
  /// `inverse_variances` are those of the whole network, in its order.
  BlockMetric(const ParameterBlock& block, std::span<const float> inverse_variances);

  /// (inputs + 1) rows of padded(outputs), the biases last.
  [[nodiscard]] const float* rows() const { return rows_.data(); }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] const float* biases() const { return rows_.data() + inputs_ * columns_; }

  /// The sum of all weights.
  [[nodiscard]] double total() const { return total_; }

  /// What a square that vanished in single precision can have hidden in a sum over the inputs.
  [[nodiscard]] double vanished() const { return vanished_; }

 private:
  std::size_t inputs_ = 0, columns_ = 0;
  AlignedFloats rows_;
  double total_ = 0.0, vanished_ = 0.0;
};

}  // namespace sfumato::lab
