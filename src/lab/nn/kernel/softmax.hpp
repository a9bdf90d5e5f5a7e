#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// For each row: gradient <- (softmax(logits) - one_hot(label)) row_weight, zeros in the padding; and, where
/// `losses` is not null, the cross-entropy -log softmax(logits)[label], not weighted.
struct SoftmaxRows {
  const float* logits;
  float* gradient;                    ///< of the logits; another place than they
  std::size_t rows, classes, stride;  ///< stride of both: a multiple of 8, at least `classes`
  const std::uint8_t* labels;
  const float* row_weights;
  float* losses;
};
void softmax_rows(const SoftmaxRows& task);

}  // namespace sfumato::kernel
