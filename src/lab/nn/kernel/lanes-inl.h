// What the kernels of every instruction set share. Included once for each of them by Highway's
// foreach_target.h, hence no ordinary include guard.
#if defined(SFUMATO_NN_KERNEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SFUMATO_NN_KERNEL_LANES_INL_H_
#undef SFUMATO_NN_KERNEL_LANES_INL_H_
#else
#define SFUMATO_NN_KERNEL_LANES_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of eight floats (four where the machine has no more): AVX2 and AVX-512 then do the same
/// operations on the same lanes and give the same bits. AVX-512 serves for its 32 registers.
using Lanes = hn::CappedTag<float, 8>;
using Vector = hn::Vec<Lanes>;
constexpr std::size_t kLanes = hn::MaxLanes(Lanes());

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t kRegisters = 32;
#else
constexpr std::size_t kRegisters = 16;
#endif

/// Holds a vector in a register. GCC 12 otherwise loads it anew as the memory operand of every
/// multiply-add that uses it, a quarter slower.
HWY_INLINE void hold(Vector& v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#else
  (void)v;
#endif
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
