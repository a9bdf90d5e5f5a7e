// Distributions of the contour accountant over random settings (Spec §20.3), and its enclosures against 50 digits (Spec §18.4).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using enum StepDirection;
constexpr unsigned kSeed = 20261117;

double log_uniform(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
}

void expect_encloses(const LogEnclosure& found, const Real& log_delta, const std::string& what) {
  EXPECT_LE(static_cast<double>(Real(found.log_lo) - log_delta), 0.0) << what;
  EXPECT_GE(static_cast<double>(Real(found.log_hi) - log_delta), 0.0) << what;
}

std::string text(double q, double sigma, double k, StepDirection direction, double eps) {
  return "q " + std::to_string(q) + ", sigma " + std::to_string(sigma) + ", k " +
         std::to_string(k) + ", " + std::string(name(direction)) + ", eps " + std::to_string(eps);
}

TEST(AccountingReference, OneStepInFiftyDigits) {
  std::mt19937_64 random(kSeed);
  int narrow = 0, all = 0;
  for (int i = 0; i < 400; ++i) {
    double q = log_uniform(random, 1e-7, 1.0);
    if (i % 4 == 0) q = 1.0 - log_uniform(random, 1e-12, 1e-1);
    const double sigma = log_uniform(random, 0.1, 20.0);
    const double eps = i % 3 == 0 ? log_uniform(random, 1e-4, 30.0)
                                  : std::uniform_real_distribution<>(-2.0, 3.0)(random);
    for (const StepDirection direction : {remove, add}) {
      const Real truth = reference::one_step_delta(q, 1.0 / sigma, direction, Real(eps));
      if (!(truth > 1e-280)) continue;
      const LogEnclosure found =
          delta_of({{SampledGaussian{q, 1.0 / sigma, 1, direction}}}, eps).log;
      expect_encloses(found, log(truth), text(q, sigma, 1, direction, eps));
      ++all;
      narrow += found.log_hi - found.log_lo < 1e-6;
    }
  }
  EXPECT_GT(narrow, all * 6 / 10) << "of " << all;
}

TEST(AccountingReference, TwoStepsInFiftyDigits) {
  std::mt19937_64 random(kSeed + 1);
  for (int i = 0; i < 6; ++i) {
    const double q = log_uniform(random, 1e-3, 0.9), sigma = log_uniform(random, 0.4, 4.0);
    const double eps = log_uniform(random, 0.05, 3.0);
    const StepDirection direction = i % 2 == 0 ? remove : add;
    if (direction == add && eps > -1.8 * std::log1p(-q)) continue;
    const Real truth = reference::two_step_delta(q, 1.0 / sigma, direction, eps);
    if (!(truth > 1e-40)) continue;
    expect_encloses(delta_of({{SampledGaussian{q, 1.0 / sigma, 2, direction}}}, eps).log,
                    log(truth), text(q, sigma, 2, direction, eps));
  }
}

/// One random ledger against the contour in 50 digits, which needs a loss that is not rare.
TEST(AccountingReference, ManyStepsInFiftyDigits) {
  std::mt19937_64 random(kSeed + 2);
  for (int i = 0; i < 10; ++i) {
    const StepDirection direction = i % 3 == 0 ? remove : i % 3 == 1 ? add : replace;
    const double q = log_uniform(random, 5e-3, 0.5), sigma = log_uniform(random, 0.7, 5.0);
    const double k = std::floor(log_uniform(random, std::max(100.0, 20.0 / q), 1e6));
    const int g = i == 3 ? 3 : 1;
    const TotalLoss loss{{g == 1 ? StepLoss(SampledGaussian{q, 1.0 / sigma, k, direction})
                                 : StepLoss(GroupGaussian{q, 1.0 / sigma, g, k, direction})},
                         i % 2 == 0 ? 0.0 : 0.01};
    const TotalCumulant start = cumulant(loss, 0.0);
    const double eps = start.mean + (0.5 + 0.5 * i) * std::sqrt(start.variance);
    const double s0 = (0.7 + 0.5 * i) / std::sqrt(start.variance);
    const double h = 0.08 / std::sqrt(cumulant(loss, s0).variance);
    const Real truth = reference::contour_log_delta(
        {reference::distribution_of(q, 1.0 / sigma, g, k, direction, s0, 1.0 / 16.0)},
        loss.mu_squared, s0, h, eps);
    const LogEnclosure found = delta_of(loss, eps).log;
    expect_encloses(found, truth, text(q, sigma, k, direction, eps));
    EXPECT_LT(found.log_hi - found.log_lo, 1e-8) << text(q, sigma, k, direction, eps);
  }
}

TEST(AccountingProperties, MomentsOfBothDirectionsMirror) {
  std::mt19937_64 random(kSeed + 3);
  for (int i = 0; i < 50; ++i) {
    const double q = log_uniform(random, 1e-4, 0.99), m = log_uniform(random, 0.1, 3.0);
    const double s = std::uniform_real_distribution<>(-0.99, -0.01)(random);
    const TotalCumulant removed = cumulant({{SampledGaussian{q, m, 1, remove}}}, s);
    const TotalCumulant added = cumulant({{SampledGaussian{q, m, 1, add}}}, -1.0 - s);
    EXPECT_NEAR(removed.value, added.value, removed.error + added.error) << q << " " << m;
    const double eps = 0.0;
    const DeltaEnclosure a = delta_of({{SampledGaussian{q, m, 300, remove}}}, eps),
                         b = delta_of({{SampledGaussian{q, m, 300, add}}}, eps);
    EXPECT_LE(std::max(a.log.log_lo, b.log.log_lo), std::min(a.log.log_hi, b.log.log_hi));
  }
}

TEST(AccountingProperties, SplitLedgersOrderAndGroupOfOne) {
  std::mt19937_64 random(kSeed + 4);
  for (int i = 0; i < 20; ++i) {
    const double q = log_uniform(random, 1e-3, 0.3), m = log_uniform(random, 0.2, 2.0);
    const double eps = log_uniform(random, 0.1, 5.0);
    const SampledGaussian one{q, m, 900, remove}, first{q, m, 350, remove}, rest{q, m, 550, remove};
    const SampledGaussian other{0.01, 1.0, 700, remove};
    const LogEnclosure joined = delta_of({{one, other}}, eps).log,
                       apart = delta_of({{first, other, rest}}, eps).log,
                       group = delta_of({{GroupGaussian{q, m, 1, 900, remove}, other}}, eps).log;
    EXPECT_NEAR(joined.log_hi, apart.log_hi, 1e-9 + joined.log_hi - joined.log_lo);
    EXPECT_LE(std::max({joined.log_lo, apart.log_lo, group.log_lo}),
              std::min({joined.log_hi, apart.log_hi, group.log_hi}));
  }
}

TEST(AccountingProperties, MonotoneAndConvex) {
  std::mt19937_64 random(kSeed + 5);
  for (int i = 0; i < 30; ++i) {
    const double q = log_uniform(random, 1e-4, 0.5), m = log_uniform(random, 0.2, 2.0);
    const double k = std::floor(log_uniform(random, 10, 1e5)), eps = log_uniform(random, 0.05, 4.0);
    for (const StepDirection direction : {remove, add, replace}) {
      LossProfile here({{SampledGaussian{q, m, k, direction}}});
      const auto lo = [&](double q2, double m2, double k2) {
        return delta_of({{SampledGaussian{q2, m2, k2, direction}}}, eps).log.log_lo;
      };
      const double hi = here.delta(eps).log.log_hi, low = here.delta(eps).log.log_lo;
      EXPECT_LE(lo(0.9 * q, m, k), hi);
      EXPECT_LE(lo(q, 0.9 * m, k), hi);
      EXPECT_LE(lo(q, m, std::floor(0.9 * k)), hi);
      // Convex in e^eps: below the chord.
      const double a = here.delta(0.8 * eps).hi(), b = here.delta(1.2 * eps).hi();
      const double xa = std::exp(0.8 * eps), xb = std::exp(1.2 * eps), x = std::exp(eps);
      EXPECT_LE(std::exp(low), ((xb - x) * a + (x - xa) * b) / (xb - xa) * (1 + 1e-12));
      // Chernoff at any abscissa is above.
      for (const double s : {0.3, 2.0, 11.0}) {
        EXPECT_LE(low, log_chernoff({{SampledGaussian{q, m, k, direction}}}, eps, s));
      }
    }
    // A smaller sampler: replacing is no easier to hide than removing, fixed size no easier than Poisson.
    const double removed = delta_of({{SampledGaussian{q, m, k, remove}}}, eps).log.log_lo;
    const LogEnclosure replaced = delta_of({{SampledGaussian{q, m, k, replace}}}, eps).log;
    EXPECT_LE(removed, replaced.log_hi);
    if (i < 5) {
      EXPECT_LE(replaced.log_lo, delta_of({{TwoSidedGaussian{q, 2 * m, k}}}, eps).log.log_hi);
    }
  }
}

TEST(AccountingProperties, EpsilonInvertsDelta) {
  std::mt19937_64 random(kSeed + 6);
  for (int i = 0; i < 40; ++i) {
    const double q = log_uniform(random, 1e-3, 0.5), m = log_uniform(random, 0.2, 2.0);
    const double k = std::floor(log_uniform(random, 100, 1e6)),
                 delta = log_uniform(random, 1e-30, 0.3);
    LossProfile profile({{SampledGaussian{q, m, k, i % 2 == 0 ? remove : add}}});
    const EpsilonEnclosure found = profile.epsilon(delta);
    ASSERT_LE(found.lo, found.hi);
    EXPECT_LE(profile.delta(found.hi).log.log_lo, std::log(delta));
    if (found.lo > 0.0) {
      EXPECT_GT(profile.delta(found.lo).hi(), delta * (1 - 1e-9));
    }
    if (found.hi < kInf && k * q > 30) {
      EXPECT_LE(found.hi - found.lo, 1e-6 * (1 + found.hi)) << q << " " << k;
    }
  }
}

/// Changing where the contour is, or smoothing it, moves the value by less than the widths.
TEST(AccountingProperties, EveryContourGivesTheSameValue) {
  const TotalLoss loss{{SampledGaussian{.01, 1.0, 3000, remove}}};
  const double eps = 2.5;
  const LogEnclosure truth = delta_of(loss, eps).log;
  for (const double factor : {0.85, 0.95, 1.1, 1.2}) {
    Work work;
    PlainTransform transform(loss, &work);
    Saddle at = saddle(transform, eps, Strip::right, 1.0);
    at.s *= factor;
    at.at = transform.at(at.s);
    const auto contour = Contour::through(transform, at, Strip::right, eps, &work);
    ASSERT_TRUE(contour);
    EXPECT_LE(std::max(contour->enclosure(eps).log_lo, truth.log_lo),
              std::min(contour->enclosure(eps).log_hi, truth.log_hi));
  }
  for (const double terms : {2e3, 4e3, 8e3}) {
    Work work{4e5, terms};
    PlainTransform transform(loss, &work);
    const Saddle at = saddle(transform, eps, Strip::right, 1.0);
    const auto contour = Contour::through(transform, at, Strip::right, eps, &work);
    if (!contour) continue;
    EXPECT_LE(contour->enclosure(eps).log_lo, truth.log_lo + 1e-12);
    EXPECT_GE(contour->enclosure(eps).log_hi, truth.log_hi - 1e-12);
  }
}

TEST(AccountingProperties, NastyNumbersHaveEnclosures) {
  for (const double q : {1e-300, 1e-20, 1e-7, 0.5, 1.0 - 1e-16}) {
    for (const double sigma : {1e-300, 1e-3, 0.05, 30.0, 1e300}) {
      for (const double k : {1.0, 1e4, 1e15}) {
        for (const StepDirection direction : {remove, add, replace}) {
          LossProfile profile({{SampledGaussian{q, std::min(1.0 / sigma, 1e300), k, direction}}});
          for (const double eps : {0.0, 1e-3, 3.0, 1e4}) {
            const DeltaEnclosure found = profile.delta(eps);
            EXPECT_TRUE(found.lo() >= 0.0 && found.lo() <= found.hi() && found.hi() <= 1.0)
                << text(q, sigma, k, direction, eps);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
