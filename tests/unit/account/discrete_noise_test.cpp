#include "sfumato/account/lattice/discrete_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(DiscreteNoise, ItsDeltaIsBelowThatOfTheGaussianMechanismThatIsAccounted) {
  for (const double n : {8.0, 40.0, 1000.0}) {
    for (const std::int64_t shift : {1, 3, 20}) {
      const double mu = static_cast<double>(shift) / n;
      for (const double eps : {0.0, 0.3 * mu, 2.0 * mu * mu}) {
        const DiscreteDelta found = discrete_gaussian_delta(n, shift, eps);
        EXPECT_LE(found.exact, found.bound * (1.0 + 1e-9)) << n << " " << shift << " " << eps;
        EXPECT_GE(found.mu_inflated, mu);
      }
    }
  }
}

TEST(DiscreteNoise, FinerGridsCostLess) {
  double before = 2.0;
  for (const double n : {8.0, 64.0, 512.0, 4096.0}) {
    const DiscreteNoiseCost cost = discrete_noise_cost(n, 1e6);
    EXPECT_NEAR(cost.mu_factor, 1.0 / std::sqrt(1.0 - 4.0 / (n * n)), 1e-14);
    EXPECT_LT(cost.mu_factor, before);
    before = cost.mu_factor;
  }
  EXPECT_GE(discrete_noise_factor(1024, 1e12), discrete_noise_cost(1024.0, 1e12).mu_factor);
  EXPECT_THROW((void)discrete_noise_factor(1023, 10), InvalidArgument);
  EXPECT_THROW((void)discrete_noise_factor(1024, 1e13), InvalidArgument);
  EXPECT_THROW((void)discrete_noise_cost(2.0, 10, 2.0), InvalidArgument);
}

TEST(MuOfPureEpsilon, HasTheAdvantageOfRandomisedResponse) {
  // Gaussian privacy is above the two lines of a pure epsilon where it is above their corner: tpr = e^eps / (1 + e^eps) at the same fpr.
  for (const double epsilon : {0.01, 1.0, 5.0}) {
    const double mu = mu_of_pure_epsilon(epsilon);
    const double power = 0.5 * std::erfc(-0.5 * mu / std::sqrt(2.0));
    EXPECT_GE(power, std::exp(epsilon) / (1.0 + std::exp(epsilon)) - 1e-12) << epsilon;
  }
}

}  // namespace
}  // namespace sfumato
