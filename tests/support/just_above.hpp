#pragma once

#include <gtest/gtest.h>

namespace sfumato::testing {

/// An upper bound computed in floating point is moved up by its rounding: it must not lie below the
/// true value, and not more than one part in 10^13 above it.
inline void expect_just_above(double bound, double truth) {
  EXPECT_GE(bound, truth);
  EXPECT_LE(bound, truth * (1.0 + 1e-13));
}

}  // namespace sfumato::testing
