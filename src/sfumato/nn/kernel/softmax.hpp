#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// For each row: slope <- (softmax(logits) - one_hot(label)) weight, zeros in the padding; and, where
/// `losses` is not null, the cross-entropy -log softmax(logits)[label], not weighted.
struct SoftmaxRows {
  const float* logits;
  float* slope;                       ///< not the logits themselves
  std::size_t rows, classes, stride;  ///< stride of both: a multiple of 8, at least `classes`
  const std::uint8_t* labels;
  const float* weights;
  float* losses;
};
void softmax_rows(const SoftmaxRows& task);

}  // namespace sfumato::kernel
