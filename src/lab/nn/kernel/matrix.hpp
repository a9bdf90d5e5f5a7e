#pragma once

#include <cstddef>

namespace sfumato::kernel {

/// Columns of every matrix that the kernels write come in multiples of this many.
constexpr std::size_t kColumnUnit = 8;

[[nodiscard]] constexpr std::size_t padded(std::size_t columns) {
  return (columns + kColumnUnit - 1) / kColumnUnit * kColumnUnit;
}

/// c[i][n] = start[n] + sum over s < segments, j < segment of
///                      rows[i][s stride + j] b[(s segment + j) b_stride + n]
///
/// A matrix times a matrix where segments = 1; a convolution where rows[i] is the corner of the patch
/// under output pixel i and a segment is one row of the patch. Each element is summed in the order of
/// (s, j) by fused multiply-adds, whatever the sizes around it: its bits depend on its own row and
/// column only.
struct RowsTimesMatrix {
  const float* const* rows;
  std::size_t row_count;
  std::size_t segments, segment, stride;
  const float* b;
  std::size_t b_stride;
  std::size_t columns;  ///< a multiple of kColumnUnit
  const float* start;   ///< `columns` numbers, or null for zeros
  float* c;
  std::size_t c_stride;
};
void rows_times_matrix(const RowsTimesMatrix& task);

/// c[i][n] = sum over p < terms of rows[p][i] b[p b_stride + n],  i < count: the transposed product,
/// for gradients of weights. Summed in the order of p, as above.
struct TransposeTimesMatrix {
  const float* const* rows;
  std::size_t terms;
  std::size_t count;
  const float* b;
  std::size_t b_stride;
  std::size_t columns;  ///< a multiple of kColumnUnit
  float* c;
  std::size_t c_stride;
};
void transpose_times_matrix(const TransposeTimesMatrix& task);

/// The instruction set that the kernels use on this machine: "AVX3", "AVX2", "SSE4", ...
[[nodiscard]] const char* instruction_set();

}  // namespace sfumato::kernel
