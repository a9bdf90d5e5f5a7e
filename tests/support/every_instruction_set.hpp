#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "hwy/targets.h"
#include "lab/nn/kernel/matrix.hpp"

namespace sfumato::kernel {

/// Calls test() with each instruction set that this machine has.
template <class Test>
inline void with_every_instruction_set(const Test& test) {
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t here = hwy::SupportedTargets();
  for (const std::int64_t target :
       {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{0}}) {
    if (target != 0 && (here & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target == 0 ? HWY_STATIC_TARGET : target);
    hwy::GetChosenTarget().DeInit();
    SCOPED_TRACE(instruction_set());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace sfumato::kernel
