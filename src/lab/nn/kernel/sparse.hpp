#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfumato::kernel {

/// Backwards, positions are skipped in groups of this many.
constexpr std::size_t kPositionGroup = 4;

/// A row with many zeros: all its numbers, and where those that are not zero stand.
struct SparseRow {
  const float* values;             ///< all of them
  const std::uint64_t* positions;  ///< bit p: number p is not zero
  const std::uint64_t* groups;     ///< bit g: some number of group g is not zero
};

/// c[i][n] = start[n] + sum over p of rows[i].values[p] b[p b_stride + n], in the order of p, without
/// positions where all rows are zero that are worked on together: terms that are zero leave a sum as it
/// is, so rows do not depend on each other.
struct SparseRowsTimesMatrix {
  const SparseRow* rows;
  std::size_t row_count, inputs;
  const float* b;
  std::size_t b_stride, columns;
  const float* start;
  float* c;
  std::size_t c_stride;
};
void sparse_rows_times_matrix(const SparseRowsTimesMatrix& task);

/// c[p][n] = shift[p] base[n] + sum over i < terms of rows[i].values[p] b[i b_stride + n], skipping
/// groups of zeros; summed in the order of i.
struct SparseTransposeTimesMatrix {
  const SparseRow* rows;
  std::size_t terms, inputs;
  const float* b;
  std::size_t b_stride, columns;
  const float* shift;
  const float* base;
  float* c;
  std::size_t c_stride;
  std::vector<std::uint64_t>* room;  ///< for the rows of each group, as bits
};
void sparse_transpose_times_matrix(const SparseTransposeTimesMatrix& task);

}  // namespace sfumato::kernel
