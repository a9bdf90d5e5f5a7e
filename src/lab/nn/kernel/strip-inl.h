// Columns of one row, in registers. Included once for each instruction set by Highway's
// foreach_target.h, hence no ordinary include guard.
#if defined(SFUMATO_NN_KERNEL_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SFUMATO_NN_KERNEL_STRIP_INL_H_
#undef SFUMATO_NN_KERNEL_STRIP_INL_H_
#else
#define SFUMATO_NN_KERNEL_STRIP_INL_H_
#endif

#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3
using WideLanes = hn::CappedTag<float, 2 * kLanes>;
HWY_INLINE void hold(hn::Vec<WideLanes>& v) {
#if HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#else
  (void)v;
#endif
}
HWY_INLINE Vector lower_half(hn::Vec<WideLanes> v) { return hn::LowerHalf(v); }
#else
using WideLanes = Lanes;  ///< never used, but read by the compiler
HWY_INLINE Vector lower_half(Vector v) { return v; }
#endif

/// V vectors side by side. AVX-512 has two of them in one register where there are four or more: as many
/// operations on as many lanes with the same bits, but half the instructions, which leaves the processor
/// time for finding out what to multiply.
template <std::size_t V>
struct Strip {
  static constexpr std::size_t kWide = HWY_TARGET <= HWY_AVX3 && V >= 4 ? V / 2 : 0;
  static constexpr std::size_t kNarrow = V - 2 * kWide;
  hn::Vec<WideLanes> wide[kWide + 1];
  Vector narrow[kNarrow + 1];

  HWY_INLINE void load(const float* from) {
    const Lanes d;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWide; ++i) {
      wide[i] = hn::LoadU(WideLanes(), from + 2 * i * kLanes);
      hold(wide[i]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kNarrow; ++i) {
      narrow[i] = hn::LoadU(d, from + (2 * kWide + i) * kLanes);
      hold(narrow[i]);
    }
  }

  HWY_INLINE void store(float* to) const {
    const Lanes d;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWide; ++i) {
      hn::StoreU(wide[i], WideLanes(), to + 2 * i * kLanes);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kNarrow; ++i) {
      hn::StoreU(narrow[i], d, to + (2 * kWide + i) * kLanes);
    }
  }

  /// Adds x times another strip, fused.
  HWY_INLINE void add(float x, const Strip& other) {
    Vector factor;
    if constexpr (kWide != 0) {
      hn::Vec<WideLanes> wide_factor = hn::Set(WideLanes(), x);
      hold(wide_factor);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kWide; ++i) {
        wide[i] = hn::MulAdd(wide_factor, other.wide[i], wide[i]);
      }
      factor = lower_half(wide_factor);
    } else {
      factor = hn::Set(Lanes(), x);
      hold(factor);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kNarrow; ++i) {
      narrow[i] = hn::MulAdd(factor, other.narrow[i], narrow[i]);
    }
  }

  /// Becomes x times another strip.
  HWY_INLINE void set_multiple(float x, const Strip& other) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWide; ++i) {
      wide[i] = hn::Mul(hn::Set(WideLanes(), x), other.wide[i]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kNarrow; ++i) {
      narrow[i] = hn::Mul(hn::Set(Lanes(), x), other.narrow[i]);
    }
  }
};

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
