// Spec §14.9.
#include "sfumato/audit/proportion_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {
namespace {

constexpr unsigned kSeed = 20230808;

double mass(int k, int n, double p) {
  if (p == 0.0) return k == 0 ? 1.0 : 0.0;
  if (p == 1.0) return k == n ? 1.0 : 0.0;
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                  k * std::log(p) + (n - k) * std::log1p(-p));
}

/// Exact: the probability of all outcomes whose bound misses p.
TEST(ClopperPearson, MissesNoMoreOftenThanItsTail) {
  std::mt19937_64 engine(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const int n = std::uniform_int_distribution<int>(1, 60)(engine);
    const double tail = std::uniform_real_distribution<double>(0.001, 0.3)(engine);
    const double p = std::uniform_real_distribution<double>(0.0, 1.0)(engine);
    double below = 0.0, above = 0.0;
    for (int k = 0; k <= n; ++k) {
      const auto successes = static_cast<std::uint64_t>(k), trials = static_cast<std::uint64_t>(n);
      if (clopper_pearson_lower(successes, trials, tail) > p) above += mass(k, n, p);
      if (clopper_pearson_upper(successes, trials, tail) < p) below += mass(k, n, p);
    }
    EXPECT_LE(above, tail * (1.0 + 1e-9)) << "n " << n << ", p " << p << ", seed " << kSeed;
    EXPECT_LE(below, tail * (1.0 + 1e-9)) << "n " << n << ", p " << p << ", seed " << kSeed;
  }
}

TEST(LowerBounds, AreZeroWithoutAnAdvantageAndFallWithDelta) {
  std::mt19937_64 engine(kSeed + 1);
  for (int i = 0; i < 1000; ++i) {
    const auto n1 = std::uniform_int_distribution<std::uint64_t>(1, 500)(engine);
    const auto n0 = std::uniform_int_distribution<std::uint64_t>(1, 500)(engine);
    const auto k1 = std::uniform_int_distribution<std::uint64_t>(0, n1)(engine);
    const auto k0 = std::uniform_int_distribution<std::uint64_t>(0, n0)(engine);
    const RateBounds rates = rate_bounds({k1, n1, k0, n0}, 0.05);
    double last = epsilon_lower(rates, Delta(0.0));
    if (k1 * n0 <= k0 * n1) {
      EXPECT_EQ(last, 0.0);
      EXPECT_EQ(delta_lower(rates, Epsilon(0.0)), 0.0);
      EXPECT_EQ(mu_lower(rates), 0.0);
    }
    for (const double delta : {1e-6, 1e-3, 0.1, 0.9}) {
      const double eps = epsilon_lower(rates, Delta(delta));
      EXPECT_LE(eps, last);
      // Both say the same: delta_lower(eps_lower(delta)) = delta where the bound is not 0.
      if (eps > 0.0) {
        EXPECT_NEAR(delta_lower(rates, Epsilon(eps)), delta, 1e-9) << "seed " << kSeed + 1;
      }
      last = eps;
    }
  }
}

}  // namespace
}  // namespace sfumato
