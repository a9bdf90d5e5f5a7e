#include "sfumato/core/check.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Check, RefusesNaNEverywhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(require_finite("x", nan), InvalidArgument);
  EXPECT_THROW(require_positive("x", nan), InvalidArgument);
  EXPECT_THROW(require_non_negative("x", nan), InvalidArgument);
  EXPECT_THROW(require_probability("x", nan), InvalidArgument);
}

TEST(Check, Edges) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(require_non_negative("x", inf), inf);
  EXPECT_EQ(require_non_negative("x", 0.0), 0.0);
  EXPECT_THROW(require_positive("x", inf), InvalidArgument);
  EXPECT_THROW(require_positive("x", 0.0), InvalidArgument);
  EXPECT_THROW(require_probability("x", 1.0 + 1e-15), InvalidArgument);
  EXPECT_NO_THROW(require_size("v", 3, 3));
  EXPECT_THROW(require_size("v", 3, 4), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
