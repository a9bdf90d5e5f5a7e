#include "sfumato/math/special.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

constexpr int kCases = 5000;
constexpr std::uint64_t kSeed = 1001;

TEST(SpecialFunctions, PsiIsConvexWithDerivativeOneMinusOneOverR) {
  testing::RandomPairs random(kSeed);
  for (int i = 0; i < kCases; ++i) {
    const double u = std::expm1(random.uniform(-8.0, 8.0)) * random.log_uniform(1e-8, 1.0);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i << " u " << u);
    const double step = 1e-3 * std::min(std::abs(u), 1.0 + u);
    const double slope = (psi_of_excess(u + step) - psi_of_excess(u - step)) / (2.0 * step);
    EXPECT_NEAR(slope, u / (1.0 + u), 2e-6 * std::abs(u / (1.0 + u)));
    EXPECT_GE(psi_of_excess(u), 0.0);
    // psi(r) + psi(1/r) = (r - 1)^2 / r
    EXPECT_NEAR(psi_of_excess(u) + psi_of_excess(-u / (1.0 + u)), u * u / (1.0 + u),
                4e-15 * u * u / (1.0 + u));
  }
}

TEST(SpecialFunctions, Phi1IsAdditiveInTime) {
  testing::RandomPairs random(kSeed + 1);
  for (int i = 0; i < kCases; ++i) {
    const double rate = random.normal() * random.log_uniform(1e-12, 10.0);
    const double s = random.log_uniform(1e-6, 10.0);
    const double t = random.log_uniform(1e-6, 10.0);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 1 << " case " << i << " rate " << rate
                                      << " s " << s << " t " << t);
    // The integral over [0, s + t] is the one over [0, s] plus e^{-rate s} times the one over [0, t];
    // e^{-rate s} carries the rounding of rate s.
    const double sum = phi1(rate, s) + std::exp(-rate * s) * phi1(rate, t);
    const double whole = phi1(rate, s + t);
    EXPECT_NEAR(whole, sum, 1e-15 * (4.0 + std::abs(rate) * (s + t)) * whole);
    EXPECT_GE(whole, phi1(rate, s) * (1.0 - 1e-15));
  }
}

TEST(SpecialFunctions, LogNormalCdfIsConcaveIncreasingAndSymmetric) {
  testing::RandomPairs random(kSeed + 2);
  for (int i = 0; i < kCases; ++i) {
    const double x = random.uniform(-60.0, 8.0);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 2 << " case " << i << " x " << x);
    const double step = 1e-3;
    const double below = log_normal_cdf(x - step);
    const double at = log_normal_cdf(x);
    const double above = log_normal_cdf(x + step);
    EXPECT_LE(below, at);
    EXPECT_LE(at, above);
    EXPECT_LE(below + above, 2.0 * at + 1e-14 * std::abs(at));
    EXPECT_NEAR(std::exp(at) + std::exp(log_normal_cdf(-x)), 1.0, 1e-15);
    // The derivative is phi / Phi, in logarithms free of underflow.
    const double log_density = -0.5 * x * x - 0.91893853320467274178;
    const double slope = std::exp(log_density - at);
    EXPECT_NEAR((above - below) / (2.0 * step), slope, 1e-4 * slope + 1e-9 * std::abs(at));
  }
}

TEST(SpecialFunctions, LogSumsAndDifferencesUndoEachOther) {
  testing::RandomPairs random(kSeed + 3);
  for (int i = 0; i < kCases; ++i) {
    const double b = random.uniform(-800.0, 800.0);
    const double a = b + random.log_uniform(1e-6, 50.0);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed + 3 << " case " << i << " a " << a << " b " << b);
    const double difference = log_sub_exp(a, b);
    EXPECT_LE(difference, a);
    // a - b is known to 1e-16 |a| only, which the difference amplifies by 1/(a - b).
    EXPECT_NEAR(log_add_exp(difference, b), a, 1e-15 * (1.0 + std::abs(a)));
    EXPECT_EQ(log_add_exp(a, b), log_add_exp(b, a));
    const double t = a - b;
    EXPECT_NEAR(std::exp(log1m_exp(-t)), -std::expm1(-t), 4e-15 * -std::expm1(-t));
  }
}

}  // namespace
}  // namespace sfumato
