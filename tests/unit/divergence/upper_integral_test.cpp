// Quadrature that errs upwards: known integrals with layers, roots, kinks and long horizons.
#include "sfumato/divergence/upper_integral.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr TimeScales kUnknown{kInf, kInf};

void expect_integral(double got, double expected, double tolerance = 1e-11) {
  EXPECT_GE(got, expected * (1.0 - 1e-15));
  EXPECT_LE(got, expected * (1.0 + tolerance));
}

TEST(UpperIntegral, SmoothAndRootFunctions) {
  expect_integral(upper_integral([](double s, double) { return s * s; }, 3.0, kUnknown), 9.0);
  expect_integral(upper_integral([](double s, double) { return std::sqrt(s); }, 4.0, kUnknown),
                  16.0 / 3.0);
  expect_integral(upper_integral([](double s, double) { return 1 / std::sqrt(s); }, 4.0, kUnknown),
                  4.0);
  EXPECT_EQ(upper_integral([](double, double) { return 0.0; }, 4.0, kUnknown), 0.0);
  EXPECT_EQ(upper_integral([](double, double) { return kInf; }, 0.0, kUnknown), 0.0);
}

TEST(UpperIntegral, LayersAtBothEnds) {
  for (const double width : {1e-12, 1e-6, 1e-2}) {
    expect_integral(
        upper_integral([=](double s, double) { return 1 / (width + s); }, 1e3, {width, kInf}),
        std::log1p(1e3 / width));
    expect_integral(upper_integral([=](double, double left) { return std::exp(-left / width); },
                                   1e4, {kInf, width}),
                    width);
  }
}

TEST(UpperIntegral, KinksAndJumpsAreBoundedFromAbove) {
  expect_integral(
      upper_integral([](double s, double) { return std::abs(s - 0.3141); }, 1.0, kUnknown),
      0.5 * (0.3141 * 0.3141 + 0.6859 * 0.6859), 1e-10);
  const double jump =
      upper_integral([](double s, double) { return s > 0.3141 ? 1.0 : 0.0; }, 1.0, kUnknown);
  EXPECT_GE(jump, 0.6859);
  EXPECT_LE(jump, 0.6859 + 1e-6);
}

TEST(UpperIntegral, InfiniteAndBadValues) {
  EXPECT_EQ(upper_integral([](double, double) { return kInf; }, 1.0, kUnknown), kInf);
  EXPECT_THROW((void)upper_integral([](double, double) { return std::nan(""); }, 1.0, kUnknown),
               NumericalFailure);
  const auto one = [](double, double) { return 1.0; };
  EXPECT_THROW((void)upper_integral(one, -1.0, kUnknown), InvalidArgument);
  EXPECT_THROW((void)upper_integral(one, kInf, kUnknown), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
