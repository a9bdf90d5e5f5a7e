#include "sfumato/account/contour/tilted_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;

TEST(TiltedDistribution, OfTermsHasTheirMoments) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  DistributionTerms terms;
  std::vector<double> tilted, losses;
  for (int j = 0; j < 40; ++j) {
    const double log_base = -4.0 + unit(random), exponent = 2.0 * unit(random),
                 loss = 3.0 * unit(random);
    terms.add(std::fabs(log_base), log_base, exponent, loss, std::fabs(loss), 0.0);
    tilted.push_back(log_base + exponent);
    losses.push_back(loss);
  }
  const TiltedDistribution found = distribution_of(terms, false);
  Real mass = 0, first = 0, second = 0;
  for (std::size_t j = 0; j < tilted.size(); ++j) {
    const Real a = exp(Real(tilted[j]));
    mass += a;
    first += a * losses[j];
    second += a * Real(losses[j]) * losses[j];
  }
  const Real mean = first / mass;
  EXPECT_NEAR(found.cumulant, static_cast<double>(log(mass)), 1e-14);
  EXPECT_NEAR(found.mean, static_cast<double>(mean), 1e-14);
  EXPECT_NEAR(found.variance, static_cast<double>(second / mass - mean * mean), 1e-13);
  for (const double y : {0.01, 1.0, 25.0}) {
    Real re = 0, im = 0;
    for (std::size_t j = 0; j < tilted.size(); ++j) {
      const Real a = exp(Real(tilted[j])) / mass, angle = Real(y) * losses[j];
      re += a * (cos(angle) - 1);
      im += a * sin(angle);
    }
    const std::complex<double> change = found.change_at(y);
    const Real off = sqrt((re - change.real()) * (re - change.real()) +
                          (im - change.imag()) * (im - change.imag()));
    EXPECT_LE(off, Real(found.error_at(y))) << y;
    EXPECT_LT(found.error_at(y), 1e-12) << y;
  }
}

TEST(TiltedDistribution, KeepsTheDigitsOfATinyCumulant) {
  // Half of the mass moves by 1e-12 up, half down by the same: K = 5e-25, which a logarithm of the sum would lose.
  DistributionTerms terms;
  for (const double sign : {1.0, -1.0}) {
    terms.add(0.7, std::log(0.5), sign * 1e-12, sign * 1e-12, 1e-12, 0.0);
  }
  EXPECT_NEAR(distribution_of(terms, true).cumulant, 5e-25, 1e-27);
}

TEST(ComplexLog1p, KeepsItsDigits) {
  for (const std::complex<double> x :
       {std::complex<double>(1e-18, 1e-20), {-1e-9, 1e-3}, {-0.5, 1e-14}, {2.0, -7.0}}) {
    const Real re = 1 + Real(x.real()), im(x.imag());
    // log |1 + x| from 2 re + |x|^2, in 50 digits.
    const Real modulus = log(re * re + im * im) / 2, argument = atan2(im, re);
    const std::complex<double> found = complex_log1p(x);
    EXPECT_NEAR(found.real(), static_cast<double>(modulus),
                4e-16 * std::fabs(static_cast<double>(modulus)) + 1e-17 * std::abs(x));
    EXPECT_NEAR(found.imag(), static_cast<double>(argument),
                4e-16 * std::fabs(static_cast<double>(argument)));
  }
}

}  // namespace
}  // namespace sfumato
