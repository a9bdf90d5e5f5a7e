#include "sfumato/divergence/minimise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

TEST(Minimise, InteriorAndEnds) {
  const LeastValue inside =
      minimise([](double x) { return (x - 0.7) * (x - 0.7) + 2.0; }, 0.0, 3.0);
  EXPECT_NEAR(inside.at, 0.7, 1e-3);
  EXPECT_NEAR(inside.value, 2.0, 1e-7);
  EXPECT_EQ(minimise([](double x) { return x; }, 1.0, 2.0).at, 1.0);
  EXPECT_EQ(minimise([](double x) { return -x; }, 1.0, 2.0).at, 2.0);
}

TEST(Minimise, EmptyAndTinyIntervals) {
  EXPECT_EQ(minimise([](double x) { return x; }, 1.0, 1.0).value, 1.0);
  const double next = std::nextafter(1.0, 2.0);  // does not shrink: must still end
  EXPECT_EQ(minimise([](double x) { return -x; }, 1.0, next).at, next);
}

}  // namespace
}  // namespace sfumato
