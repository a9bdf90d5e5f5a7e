// Spec §1.8 (psi) and Spec §1.9 (phi1) against more digits.
#include "sfumato/math/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Relative, with the smallest denormal as the absolute part.
void expect_close(double value, double exact, double tolerance) {
  EXPECT_NEAR(value, exact,
              tolerance * std::abs(exact) + std::numeric_limits<double>::denorm_min());
}

struct OneArgument {
  double x, exact;
};
struct TwoArguments {
  double x, y, exact;
};

// The reference values of this file: mpmath with 60 to 700 digits, of the argument as a double.

TEST(Psi, KeepsAllDigitsFromTinyToHuge) {
  constexpr OneArgument cases[] = {
      {1e-300, 0.0},  // 5e-601
      {-1e-300, 0.0},
      {1e-160, 4.9999999999999999e-321},
      {-1e-20, 4.9999999999999995e-41},
      {1e-08, 4.9999999666666671e-17},
      {-1e-08, 5.0000000333333338e-17},
      {1e-05, 4.9999666669166655e-11},
      {0.001, 4.9966691646683321e-7},
      {-0.001, 5.0033358353350016e-7},
      {0.1, 0.0046898201956751405},
      {-0.1, 0.0053605156578263018},
      {0.2499, 0.026836451885960923},
      {0.2501, 0.026876451885619586},
      {-0.2499, 0.037648748006546442},
      {-0.2501, 0.037715414674793348},
      {0.5, 0.094534891891835618},
      {-0.5, 0.19314718055994531},
      {-0.9, 1.4025850929940459},
      {10.0, 7.6021047272016295},
      {1e10, 9999999976.9741491},
      {1e300, 1.0000000000000001e+300},
      {-1.0 + 0x1p-30, 19.794415417729682},
      {-1.0 + 0x1p-53, 35.736800569677102},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.x);
    expect_close(psi_of_excess(c.x), c.exact, 2e-15);
  }
}

TEST(Psi, Edges) {
  EXPECT_EQ(psi_of_excess(0.0), 0.0);
  EXPECT_EQ(psi_of_excess(-1.0), kInf);
  EXPECT_EQ(psi_of_excess(kInf), kInf);
  EXPECT_TRUE(std::isnan(psi_of_excess(-1.5)));
  EXPECT_TRUE(std::isnan(psi_of_excess(-kInf)));
  EXPECT_TRUE(std::isnan(psi_of_excess(kNan)));
}

TEST(Phi1, EveryRate) {
  constexpr TwoArguments cases[] = {
      {1e-300, 3.0, 3.0},
      {-1e-300, 3.0, 3.0},
      {1e-12, 5.0, 4.9999999999875},
      {1e-09, 9.99, 9.9899999500999504},
      {1e-09, 10.01, 10.00999994989995},
      {-1e-09, 9.99, 9.9900000499000504},
      {-1e-09, 10.01, 10.01000005010005},
      {0.5, 2.0, 1.2642411176571154},
      {-0.5, 2.0, 3.4365636569180905},
      {-3.0, 100.0, 6.4747546508041865e+129},
      {3.0, 100.0, 0.33333333333333333},
      {100000.0, 1.0, 1.0e-5},
      {1e-200, 1e200, 6.3212055882855767e+199},
      {1e-05, 1e-05, 9.9999999995000008e-6},
      {2.0, 1e-300, 1.0e-300},
      {-700.0, 1.0, 1.4489029353357207e+301},
      {1e300, 1e-300, 6.3212055882855767e-301},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << "rate " << c.x << " time " << c.y);
    expect_close(phi1(c.x, c.y), c.exact, 1e-15);
  }
}

TEST(Phi1, Edges) {
  EXPECT_EQ(phi1(0.0, 3.0), 3.0);
  EXPECT_EQ(phi1(2.0, 0.0), 0.0);
  EXPECT_EQ(phi1(-2.0, 0.0), 0.0);
  EXPECT_EQ(phi1(4.0, kInf), 0.25);
  EXPECT_EQ(phi1(0.0, kInf), kInf);
  EXPECT_EQ(phi1(-4.0, kInf), kInf);
  EXPECT_EQ(phi1(1e300, 1e300), 1e-300);
  EXPECT_EQ(phi1(-1e300, 1e300), kInf);
}

TEST(LogNormalCdf, BothTails) {
  constexpr OneArgument cases[] = {
      {-10000.0, -50000010.129278915},  {-1000.0, -500007.82669481218},
      {-100.0, -5005.5242086942051},    {-40.0, -804.60844201375379},
      {-38.0, -726.55721601882013},     {-10.0, -53.231285150512471},
      {-5.5, -17.779376352625261},      {-5.0000001, -15.064998912639129},
      {-5.0, -15.064998393988726},      {-4.9999999, -15.064997875338332},
      {-4.0, -10.360101486527291},      {-2.0, -3.7831843336820319},
      {-1.0, -1.8410216450092635},      {-0.5, -1.1759117615936186},
      {-0.001, -0.69394538346696518},   {-1e-10, -0.69314718063973377},
      {0.0, -0.69314718055994531},      {1e-10, -0.69314718048015685},
      {0.5, -0.36894641528865639},      {1.0, -0.17275377902344989},
      {2.0, -0.023012909328963488},     {5.0, -2.8665161296376359e-7},
      {8.0, -6.2209605742717861e-16},   {10.0, -7.6198530241605261e-24},
      {20.0, -2.7536241186062337e-89},  {30.0, -4.9067139271481871e-198},
      {37.0, -5.7255712225245768e-300}, {40.0, 0.0},  // -3.7e-350
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.x);
    // x / sqrt(2) is off by half a unit, which erfc amplifies by x^2.
    expect_close(log_normal_cdf(c.x), c.exact, c.x > 4.0 ? 3e-16 * (1.0 + c.x * c.x) : 2e-15);
  }
  EXPECT_EQ(log_normal_cdf(-kInf), -kInf);
  EXPECT_EQ(log_normal_cdf(kInf), 0.0);
  EXPECT_TRUE(std::isnan(log_normal_cdf(kNan)));
}

TEST(Log1mExp, BothBranches) {
  constexpr OneArgument cases[] = {
      {-1e-300, -690.77552789821371},     {-1e-20, -46.051701859880914},
      {-1e-08, -18.420680748952365},      {-0.1, -2.3521684610440908},
      {-0.693, -0.69329438278519665},     {-0.6931471805599453, -0.69314718055994533},
      {-0.694, -0.69229508780120406},     {-1.0, -0.45867514538708189},
      {-10.0, -4.540096037048921e-5},     {-36.0, -2.3195228302435697e-16},
      {-40.0, -4.248354255291589e-18},    {-100.0, -3.720075976020836e-44},
      {-700.0, -9.8596765437597709e-305},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.x);
    expect_close(log1m_exp(c.x), c.exact, 1e-15);
  }
  EXPECT_EQ(log1m_exp(0.0), -kInf);
  EXPECT_EQ(log1m_exp(-kInf), 0.0);
}

TEST(LogSubExp, Edges) {
  EXPECT_DOUBLE_EQ(log_sub_exp(1000.0, 999.0), 1000.0 + std::log1p(-std::exp(-1.0)));
  EXPECT_EQ(log_sub_exp(3.0, 3.0), -kInf);
  EXPECT_EQ(log_sub_exp(3.0, -kInf), 3.0);
  EXPECT_EQ(log_sub_exp(-kInf, -kInf), -kInf);
  EXPECT_EQ(log_sub_exp(kInf, 3.0), kInf);
}

TEST(LogAddExp, Edges) {
  EXPECT_DOUBLE_EQ(log_add_exp(-1000.0, -1000.0), -1000.0 + std::log(2.0));
  EXPECT_EQ(log_add_exp(-kInf, -kInf), -kInf);
  EXPECT_EQ(log_add_exp(-kInf, 2.0), 2.0);
  EXPECT_EQ(log_add_exp(kInf, 2.0), kInf);
  EXPECT_EQ(log_add_exp(kInf, -kInf), kInf);
}

TEST(ProductOrZero, NothingTimesInfinity) {
  EXPECT_EQ(product_or_zero(2.0, 3.0), 6.0);
  EXPECT_EQ(product_or_zero(0.0, kInf), 0.0);
  EXPECT_EQ(product_or_zero(1e-300, kInf), kInf);
}

TEST(Decay, Edges) {
  EXPECT_DOUBLE_EQ(decay(2.0, 0.5), std::exp(-1.0));
  EXPECT_EQ(decay(0.0, kInf), 1.0);
  EXPECT_EQ(decay(1.0, kInf), 0.0);
  EXPECT_EQ(decay(-1.0, kInf), kInf);
}

}  // namespace
}  // namespace sfumato
