// Few steps with rare sampled steps (Spec §18.9): the pair exchanged, rows by transforms, panels, and what single steps say.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/phase_rows.hpp"
#include "sfumato/account/contour/phase_sum.hpp"
#include "sfumato/account/contour/ratio_quadrature.hpp"
#include "sfumato/account/contour/single_step_bounds.hpp"
#include "sfumato/account/contour/transform_decay.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TotalLoss steps(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}

TEST(PhaseRows, TransformsGiveTheSumsUpToTheirError) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<double> weight, loss;
  for (int j = 0; j < 3000; ++j) {
    weight.push_back(std::pow(uniform(random), 4.0) / 600.0);
    loss.push_back(-0.3 + 5.0 * j / 3000.0);
  }
  constexpr double kPeriod = 3.7;
  constexpr std::size_t kRows = 1500;
  const PhaseRows rows = phase_rows(weight, loss, kPeriod, kRows, 10.0);
  ASSERT_GT(rows.error, 0.0) << "row by row: nothing is tested";
  EXPECT_LT(rows.error, 1e-12);
  for (const std::size_t n : {0ul, 1ul, 2ul, 700ul, 1499ul}) {
    const double y = 2.0 * std::numbers::pi * static_cast<double>(n) / kPeriod;
    const PhaseSum direct = phase_sum(weight.data(), loss.data(), loss.size(), y);
    EXPECT_LE(std::abs(rows.change[n] - std::complex<double>(direct.re, direct.im)),
              rows.error_at(y) + 1e-15)
        << n;
  }
}

TEST(RatioPanels, GiveTheTransformOfTheTrapezoidalRule) {
  struct Place {
    StepDirection direction;
    double q, m, s0, reach;
  };
  for (const auto& [direction, q, m, s0, reach] :
       {Place{remove, .01, 1.0, 3.0, 300.0}, Place{add, .01, 1.0, 20.0, 300.0},
        Place{add, 1e-3, .5, 300.0, 3000.0}, Place{replace, .01, 1.0, 1.0, 200.0},
        Place{remove, .2, 2.0, -0.5, 50.0}}) {
    const RatioStep step = *SampledGaussian{q, m, 10.0, direction}.as_ratio();
    const TiltedDistribution panels = gauss_legendre::tilted_distribution(step, s0, reach);
    const TiltedDistribution even = trapezoidal::tilted_distribution(step, s0, reach);
    EXPECT_NEAR(panels.cumulant, even.cumulant, panels.error_at(0.0) + even.error_at(0.0));
    for (const double y : {0.1 * reach, 0.63 * reach, reach}) {
      const double error = panels.error_at(y) + even.error_at(y);
      EXPECT_LT(error, 1e-11);
      EXPECT_LE(std::abs(panels.change_at(y) - even.change_at(y)), error) << q << " " << y;
    }
  }
}

TEST(Decay, OfTheExchangedPairIsABoundAndNear) {
  for (const auto& [q, m, s0] : {std::array{1e-5, .2, 2e4}, std::array{2.346e-4, .263, 2700.0},
                                 std::array{1e-3, 1.0, 200.0}}) {
    const SampledGaussian step{q, m, 5.0, add};
    for (const double times : {10.0, 50.0}) {
      const double reach = times * s0;
      const TiltedDistribution law =
          gauss_legendre::tilted_distribution(*step.as_ratio(), s0, reach);
      const StepCumulant here{law.cumulant, law.mean, law.variance, law.error_at(0.0)};
      const double bound = step.log_bound_beyond(here, s0, reach, -8.0).log_ratio;
      const double truth = std::log(std::abs(1.0 + law.change_at(reach)));
      EXPECT_GE(bound, truth - 1e-12) << q;
      EXPECT_LT(bound, 0.5 * truth) << q;
    }
  }
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

TEST(RareHits, TwoStepsAreOneIntegral) {
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

TEST(RareHits, FewStepsAreNarrowAndAskedTwiceTheSame) {
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

TEST(RareHits, SingleStepsBoundAllOfThem) {
  for (const double sigma : {1.0, 5.0}) {
    const TotalLoss loss = steps(1e-4, sigma, 20.0);
    const SingleStepBounds bounds(loss);
    const DeltaEnclosure at_zero = delta_of(loss, 0.0), at_one = delta_of(loss, 0.1);
    EXPECT_GE(bounds.log_variation(), at_zero.log.log_lo);
    EXPECT_LE(at_zero.log.log_hi, bounds.log_variation());
    EXPECT_LE(bounds.log_some_sampled(0.1), at_one.log.log_hi);
    EXPECT_LE(bounds.log_some_sampled(0.0), at_zero.log.log_hi);
  }
  // Fewer sampled steps than delta allows: nothing to search for.
  EXPECT_EQ(epsilon_of(steps(1e-7, .3, 10.0), 1e-5).hi, 0.0);
}

}  // namespace
}  // namespace sfumato
