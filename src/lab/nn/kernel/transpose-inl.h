// Exchanges rows and columns of vectors in registers. Included once for each instruction set by Highway's
// foreach_target.h, hence no ordinary include guard.
#if defined(SFUMATO_NN_KERNEL_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SFUMATO_NN_KERNEL_TRANSPOSE_INL_H_
#undef SFUMATO_NN_KERNEL_TRANSPOSE_INL_H_
#else
#define SFUMATO_NN_KERNEL_TRANSPOSE_INL_H_
#endif

#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

/// a[i][j] <-> a[j][i] of kLanes vectors of kLanes numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_lanes(D d, V* a) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  (void)a;
#else
  const hn::Repartition<std::uint64_t, D> d64;
  V b[kLanes];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; i += 2) {
    b[i] = hn::InterleaveLower(d, a[i], a[i + 1]);
    b[i + 1] = hn::InterleaveUpper(d, a[i], a[i + 1]);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; i += 4) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < 2; ++j) {
      const auto low = hn::BitCast(d64, b[i + j]), high = hn::BitCast(d64, b[i + 2 + j]);
      a[i + 2 * j] = hn::BitCast(d, hn::InterleaveLower(d64, low, high));
      a[i + 2 * j + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, low, high));
    }
  }
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET <= HWY_AVX3
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 4; ++i) {
    b[i] = hn::ConcatLowerLower(d, a[i + 4], a[i]);
    b[i + 4] = hn::ConcatUpperUpper(d, a[i + 4], a[i]);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) a[i] = b[i];
#endif
#endif
}

/// to[j][i] = from[i][j] for j < columns and all kLanes of i, with zeros for i from `rows` on; rows and
/// columns are kLanes at most, and whole vectors of `from` are read.
HWY_INLINE void transpose_tile(const float* from, std::size_t from_stride, std::size_t rows,
                               std::size_t columns, float* to, std::size_t to_stride) {
  const Lanes d;
  Vector a[kLanes];
  if (rows == kLanes && columns == kLanes) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = hn::LoadU(d, from + i * from_stride);
    transpose_lanes(d, a);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kLanes; ++j) hn::StoreU(a[j], d, to + j * to_stride);
    return;
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) {
    a[i] = i < rows ? hn::LoadU(d, from + i * from_stride) : hn::Zero(d);
  }
  transpose_lanes(d, a);
#pragma GCC unroll 8
  for (std::size_t j = 0; j < kLanes; ++j) {
    if (j < columns) hn::StoreU(a[j], d, to + j * to_stride);
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
