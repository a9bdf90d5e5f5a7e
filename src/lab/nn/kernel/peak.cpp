#include "lab/nn/kernel/peak.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/peak.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

double multiply_add_rounds(std::uint64_t rounds) {
  // Latency times throughput is at most ten on today's processors; twelve chains leave room for the
  // factor and the term in sixteen registers.
  constexpr std::size_t kChains = 12;
  const Lanes d;
  Vector chain[kChains];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kChains; ++i) chain[i] = hn::Set(d, static_cast<float>(i));
  Vector factor = hn::Set(d, 0.5F), term = hn::Set(d, 1.0F);
  hold(factor);
  hold(term);
  for (std::uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kChains; ++i) chain[i] = hn::MulAdd(chain[i], factor, term);
  }
  Vector sum = chain[0];
#pragma GCC unroll 16
  for (std::size_t i = 1; i < kChains; ++i) sum = hn::Add(sum, chain[i]);
  const volatile float kept = hn::GetLane(sum);  // or the compiler drops the rounds
  (void)kept;
  return 2.0 * static_cast<double>(kLanes * kChains) * static_cast<double>(rounds);
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(multiply_add_rounds);
double multiply_add_rounds(std::uint64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_rounds)(rounds);
}

}  // namespace sfumato::kernel
#endif
