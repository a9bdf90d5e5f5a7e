#include "sfumato/account/contour/density_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
constexpr double kUnit = 0x1p-53;

/// log r of a group, as the sum that defines it.
Real log_of_group(double q, double m, int g, const Real& z) {
  Real sum = 0, binomial = 1;
  for (int j = 0; j <= g; ++j) {
    sum += binomial * pow(Real(q), j) * pow(1 - Real(q), g - j) *
           exp(j * Real(m) * z - Real(j) * j * m * m / 2);
    binomial = binomial * (g - j) / (j + 1);
  }
  return log(sum);
}

TEST(MixtureRatio, IsItsSumUpToTheRoundingsItNames) {
  for (const auto& [q, m, g] :
       {std::tuple{.01, 1.0, 1}, {1e-6, .2, 1}, {.7, 5.0, 1}, {.1, .5, 3}, {1e-3, 2.0, 8}}) {
    const MixtureRatio ratio(q, m, g);
    for (const double z : {-9.0, -0.5, 0.0, 0.3, 4.0, 30.0}) {
      const MixtureRatio::Log found = ratio.log_at(z);
      const double allowed = kUnit * (11.0 * found.size + 2.0 * g * m * std::fabs(z));
      EXPECT_NEAR(static_cast<double>(log_of_group(q, m, g, Real(z)) - found.value), 0.0, allowed)
          << q << " " << m << " " << g << " " << z;
    }
  }
}

TEST(MixtureRatio, OffTheAxisIsTheComplexSum) {
  using Complex = std::complex<long double>;
  for (const auto& [q, m, g] : {std::tuple{.01, 1.0, 1}, {.4, 3.0, 1}, {.1, .5, 4}}) {
    const MixtureRatio ratio(q, m, g);
    for (const double share : {0.1, 0.6, 0.95}) {
      const double eta = share * std::acos(-1.0) / ratio.slope();
      for (const double x : {-3.0, 0.2, 5.0}) {
        Complex sum = 0;
        long double binomial = 1;
        for (int j = 0; j <= g; ++j) {
          const Complex power = static_cast<long double>(j * m) * Complex(x, eta) -
                                static_cast<long double>(0.5 * j * j * m * m);
          sum += binomial * std::pow(static_cast<long double>(q), j) *
                 std::pow(1.0L - static_cast<long double>(q), g - j) * std::exp(power);
          binomial = binomial * (g - j) / (j + 1);
        }
        const MixtureRatio::OffAxis found = ratio.off_axis(x, ratio.shift(eta));
        EXPECT_NEAR(found.log_modulus, static_cast<double>(std::log(std::abs(sum))), 1e-13);
        EXPECT_NEAR(found.argument, static_cast<double>(std::arg(sum)), 1e-13);
        // What the contract promises of the strip.
        const double real = ratio.log_at(x).value;
        EXPECT_LE(found.log_modulus, real + 1e-14);
        EXPECT_GE(found.log_modulus, real + std::log(std::cos(0.5 * ratio.slope() * eta)) - 1e-14);
      }
    }
  }
}

TEST(MixtureRatio, TheSampledShareIsThatOfTheRecord) {
  const MixtureRatio ratio(.02, 1.5, 1);
  for (const double z : {-4.0, 0.0, 2.5, 12.0}) {
    const double sampled = .02 * std::exp(1.5 * z - 1.125);
    EXPECT_NEAR(ratio.sampled_share(z), sampled / (.98 + sampled), 1e-14);
  }
}

TEST(RatioStep, LossesOfTheDirectionsAreThoseOfTheirPairs) {
  const MixtureRatio ratio(.1, 1.0, 1);
  for (const double z : {-2.0, 0.7, 3.0}) {
    const double up = ratio.log_at(z).value, down = ratio.log_at(-z).value;
    const RatioStep::Loss remove = RatioStep{ratio, StepDirection::remove, 1}.loss_at(z);
    EXPECT_EQ(remove.loss, up);
    EXPECT_EQ(remove.log_density, up);
    const RatioStep::Loss add = RatioStep{ratio, StepDirection::add, 1}.loss_at(z);
    EXPECT_EQ(add.loss, -up);
    EXPECT_EQ(add.log_density, 0.0);
    const RatioStep::Loss replace = RatioStep{ratio, StepDirection::replace, 1}.loss_at(z);
    EXPECT_NEAR(replace.loss, up - down, 1e-15);
    EXPECT_EQ(replace.log_density, up);
  }
}

}  // namespace
}  // namespace sfumato
