#include "sfumato/core/units.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Units, EpsilonIsNonNegativeAndMayBeInfinite) {
  EXPECT_EQ(Epsilon(0.5).nats(), 0.5);
  EXPECT_EQ(Epsilon(kInf).nats(), kInf);
  EXPECT_THROW(Epsilon(-1e-300), InvalidArgument);
  EXPECT_THROW(Epsilon{kNan}, InvalidArgument);
}

TEST(Units, DeltaIsAProbability) {
  EXPECT_EQ(Delta(1.0).probability(), 1.0);
  EXPECT_THROW(Delta(1.5), InvalidArgument);
  EXPECT_THROW(Delta(-0.1), InvalidArgument);
  EXPECT_THROW(Delta{kNan}, InvalidArgument);
}

TEST(Units, NatsAreOrdered) {
  EXPECT_LT(Nats(0.1), Nats(kInf));
  EXPECT_THROW(Nats(-0.1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
