#include "sfumato/divergence/local_gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

TEST(LocalGdp, WithoutTailsIsTheGaussianCurve) {
  const LocalGdp plain{1.3, 0.0, 0.0};
  EXPECT_NEAR(delta_bound(plain, 0.7), gdp_delta(1.3, 0.7).delta, 1e-12);
  EXPECT_NEAR(epsilon_bound(plain, Delta{1e-4}), gdp_epsilon(1.3, Delta{1e-4}).nats(), 1e-8);
}

/// Distributions of which the definition is true with equality on the normal part: (1 - t) N(mu, 1) + t at a
/// point that only the first distribution has, against (1 - t') N(0, 1) + t' at a point of the second.
TEST(LocalGdp, CoversMixturesWithATail) {
  for (const LocalGdp& g : {LocalGdp{0.5, 1e-3, 0.02}, LocalGdp{2.0, 0.1, 0.0}}) {
    for (const double eps : {0.0, 0.5, 2.0}) {
      const double inner = eps + std::log((1.0 - g.tail_prime) / (1.0 - g.tail));
      const double truth = (1.0 - g.tail) * gdp_delta(g.mu, inner).delta + g.tail;
      EXPECT_GE(delta_bound(g, eps), truth);
      EXPECT_LE(delta_bound(g, eps), truth + g.tail);
    }
    const double eps = epsilon_bound(g, Delta{0.2});
    EXPECT_LE(delta_bound(g, eps), 0.2 * (1.0 + 1e-9));
    EXPECT_EQ(swapped(g).tail, g.tail_prime);
  }
  EXPECT_EQ(epsilon_bound({1.0, 0.1, 0.0}, Delta{0.1}), std::numeric_limits<double>::infinity());
  EXPECT_GE(tpr_bound({1.0, 0.01, 0.02}, 0.1), tpr_bound({1.0, 0.0, 0.0}, 0.1) + 0.0099);
}

}  // namespace
}  // namespace sfumato
