#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace sfumato::lab
