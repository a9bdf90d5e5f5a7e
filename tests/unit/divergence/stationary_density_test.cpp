#include "sfumato/divergence/stationary_density.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/family/formula.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

SdePair pair_of(const std::vector<std::string>& drift, const std::vector<std::string>& drift_prime,
                double noise, double noise_prime) {
  const auto d = static_cast<Eigen::Index>(drift.size());
  const GaussianDistribution start{VectorXd::Zero(d), Isotropic{0.3, d}};
  const std::vector<std::string> names = coordinate_names(d);
  return {{formula_diffusion(names, drift, Covariance(Isotropic{noise, d})), start},
          {formula_diffusion(names, drift_prime, Covariance(Isotropic{noise_prime, d})), start}};
}

TEST(StationaryKl, DoubleWellAgainstTheGridAtALongTime) {
  const SdePair pair = pair_of({"x - x^3"}, {"x - x^3 + 0.2"}, 0.64, 0.8);
  const KlBound found = stationary_kl(pair);
  ASSERT_EQ(found.reason, "");
  EXPECT_EQ(found.kl.claim, Claim::exact);
  const PairSolution grid = solve_fokker_planck_pair(pair.p, pair.q, {100.0});
  EXPECT_NEAR(found.kl.value.value(), grid.rows.front().forward.kl.value,
              2e-4 * found.kl.value.value());
}

TEST(StationaryKl, GaussianAndProducts) {
  // A drift that is linear where it matters, as quadrature, and twice in a product.
  const KlBound one =
      stationary_kl(pair_of({"-x + 0 x^3"}, {"-1.2 x + 0.1 + 1e-14 sin(x)"}, 1.0, 1.1));
  const GaussianDistribution p{VectorXd::Zero(1), Isotropic{0.5, 1}},
      q{VectorXd::Constant(1, 0.1 / 1.2), Isotropic{1.1 / 2.4, 1}};
  EXPECT_NEAR(one.kl.value.value(), start_kl(p, q), 1e-10);
  const KlBound two = stationary_kl(pair_of({"-x", "x - x^3"}, {"-x", "x - x^3"}, 1.0, 1.0));
  EXPECT_EQ(two.kl.value.value(), 0.0);
}

TEST(StationaryKl, Refusals) {
  EXPECT_NE(stationary_kl(pair_of({"x"}, {"x + 0.1 sin(x)"}, 1.0, 1.0)).reason, "");
  EXPECT_NE(stationary_kl(pair_of({"-x + 0.1 sin(t) tanh(x)"}, {"-x"}, 1.0, 1.0)).reason, "");
  EXPECT_NE(
      stationary_kl(pair_of({"-x + 0.1 sin(y)", "-y + 0.1 sin(x)"}, {"-x", "-y"}, 1.0, 1.0)).reason,
      "");
}

}  // namespace
}  // namespace sfumato
