#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/clipping.hpp"
#include "lab/nn/kernel/sparse.hpp"

namespace sfumato::lab {

/// Inputs of some rows, in the network's storage order. Where most are the same number in every row
/// (black pixels), `sparse` gives them less `shift`, one number per input, and skips the zeros: for
/// networks that begin with a linear layer (Bundle::reads_sparse_rows). Otherwise `plain` gives them.
struct InputRows {
  std::size_t count = 0;
  const float* const* plain = nullptr;
  const kernel::SparseRow* sparse = nullptr;
  const float* shift = nullptr;
};

/// The rows of a minibatch, and for each model how much a row counts (0: the record is not in the model's
/// world).
struct BatchRows {
  InputRows inputs;
  const std::uint8_t* labels;
  const float* row_weights;  ///< of row r for model m: row_weights[m count + r]
  /// Where gradients are clipped: the sums of squares of the inputs, or null to compute them.
  const double* squared_inputs = nullptr;
};

/// The squared norms of the gradients of some rows under one model, block by block, and the factors that follow from them.
class RowClips {
 public:
  /// Starts with norms of zero.
  void begin(std::size_t blocks, std::size_t rows);

  /// To be set for every block: the squared norm of each row's gradient in its parameters.
  [[nodiscard]] double* squares(std::size_t block) { return squares_.data() + block * rows_; }

  /// The same of a gradient whose signals are all 1, and of one whose entries are (of a convolution: the latter alone), added: times the least
  /// float, what scaled numbers that single precision cannot hold may add.
  [[nodiscard]] double* units(std::size_t block) { return units_.data() + block * rows_; }

  /// The factors of all rows: row weight times min(1, clip (1 - margin) / norm), zero where a norm is not finite or the scaled gradient would
  /// not keep its digits.
  void decide(const Clipping& clipping, double margin, const float* row_weights);

  [[nodiscard]] const float* factors(std::size_t block) const {
    return factors_.data() + block * rows_;
  }
  /// Rows whose gradient counts as not finite, of whatever weight: their numbers must be cleared, not multiplied by zero.
  [[nodiscard]] std::span<const std::size_t> not_finite() const { return not_finite_; }
  /// How many of them have a weight.
  [[nodiscard]] std::uint64_t zeroed() const { return zeroed_; }

 private:
  std::size_t blocks_ = 0, rows_ = 0;
  std::vector<double> squares_, units_;
  std::vector<float> factors_;
  std::vector<std::size_t> not_finite_;
  std::uint64_t zeroed_ = 0;
};

/// The sum of squares in double precision, in which those of floats neither overflow nor vanish.
[[nodiscard]] double sum_of_squares(const float* values, std::size_t count);
/// sum_i values_i^2 weights_i
[[nodiscard]] double weighted_squares(const float* values, const float* weights, std::size_t count);

}  // namespace sfumato::lab
