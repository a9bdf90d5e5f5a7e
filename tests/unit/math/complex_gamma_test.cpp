#include "sfumato/math/complex_gamma.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

TEST(ComplexGamma, IsTheRealOneOnTheAxis) {
  for (const double x : {1e-3, 0.3, 1.0, 2.0, 7.5, 24.0, 60.0, 512.0, 2000.0}) {
    const std::complex<double> log = log_gamma({x, 0.0});
    EXPECT_NEAR(log.real(), std::lgamma(x), 1e-15 * (4.0 + std::fabs(std::lgamma(x)))) << x;
    EXPECT_EQ(log.imag(), 0.0);
  }
}

TEST(ComplexGamma, HasTheDigitsOfAReference) {
  // mpmath.loggamma at 40 digits.
  const struct {
    double x, y, re, im;
  } cases[] = {{0.5, 1.0, -0.65279064420437292, -0.95500772434256911},
               {4.0, 30.0, -34.293012723722152, 77.331372900810442},
               {60.0, 272.0, -92.324604445239766, 1339.783809971947},
               {1.0, 20000.0, -31410.05585358846, 178070.53644471929}};
  for (const auto& c : cases) {
    const std::complex<double> log = log_gamma({c.x, c.y});
    EXPECT_NEAR(log.real(), c.re, 4e-16 * (1.0 + std::fabs(c.re)) + 1e-15) << c.y;
    EXPECT_NEAR(log.imag(), c.im, 4e-16 * (1.0 + std::fabs(c.im)) + 1e-15) << c.y;
  }
}

TEST(ComplexGamma, IsConjugate) {
  EXPECT_EQ(log_gamma({3.5, -7.0}), std::conj(log_gamma({3.5, 7.0})));
}

}  // namespace
}  // namespace sfumato
