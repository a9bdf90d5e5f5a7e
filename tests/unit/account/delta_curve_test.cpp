// Few steps that rarely sample (Spec §18.9): where several ways are tried.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "sfumato/account/accountant/profile.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TotalLoss steps(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}

/// delta of two steps, E_P delta_1(eps - L), by the trapezoidal rule in long double.
double two_steps(double q, double sigma, double eps) {
  const long double m = 1.0L / static_cast<long double>(sigma);
  const auto cdf = [](long double x) { return 0.5L * std::erfc(-x / std::sqrt(2.0L)); };
  const auto one = [&](long double e) {
    if (std::exp(e) <= 1.0L - q) return -std::expm1(e);
    const long double z = std::log1p(std::expm1(e) / q) / m + m / 2;
    return q * cdf(m - z) - (q + std::expm1(e)) * cdf(-z);
  };
  long double sum = 0.0L;
  constexpr long double kStep = 0.0025L;
  for (int i = -4400; i <= 5200; ++i) {
    const long double z = i * kStep, l = std::log1p(q * std::expm1(m * z - m * m / 2));
    sum += std::exp(-z * z / 2 + l) * one(eps - l);
  }
  return static_cast<double>(sum * kStep / std::sqrt(2.0L * std::numbers::pi_v<long double>));
}

TEST(DeltaCurve, TwoStepsAreOneIntegral) {
  for (const auto& [q, sigma, eps] :
       {std::array{.01, 1.0, 0.0}, std::array{.01, 1.0, .1}, std::array{1e-3, 1.0, 2e-3},
        std::array{1e-3, 2.0, 1e-3}, std::array{1e-4, 4.0, 0.0}, std::array{1e-4, 4.0, 2e-5},
        std::array{.1, 1.0, 1.0}}) {
    const double truth = two_steps(q, sigma, eps);
    const DeltaEnclosure found = delta_of(steps(q, sigma, 2.0), eps);
    EXPECT_LE(found.lo(), truth * (1.0 + 1e-10)) << q << " " << sigma << " " << eps;
    EXPECT_GE(found.hi(), truth * (1.0 - 1e-10)) << q << " " << sigma << " " << eps;
    EXPECT_LT(found.hi() / found.lo() - 1.0, 1e-3) << q << " " << sigma << " " << eps;
  }
}

TEST(DeltaCurve, FewStepsAreNarrowAndAskedTwiceTheSame) {
  // An FFT accountant says .3800; the contour alone .3814.
  LossProfile profile(steps(.01, 1.0, 10.0));
  const EpsilonEnclosure found = profile.epsilon(1e-5);
  EXPECT_GT(found.lo, .379902);
  EXPECT_LT(found.hi, .379903);
  const double before = profile.delta(found.hi).hi();
  EXPECT_LE(before, 1e-5);
  static_cast<void>(profile.delta(3.0 * found.hi));
  EXPECT_EQ(profile.delta(found.hi).hi(), before);
  EXPECT_EQ(delta_of(steps(.01, 1.0, 10.0), found.hi).hi(), before);
}

}  // namespace
}  // namespace sfumato
