#include "sfumato/divergence/stationary_density.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(StationaryKl, EquationsThatAreTheSameMayRememberTheirStarts) {
  SdePair pair = pair_of({"x"}, {"x"}, 1.0, 1.0);
  EXPECT_EQ(stationary_kl(pair).kl.value.value(), 0.0);
  pair.q.start.mean(0) = 1.0;  // the KL tends to 1/(2 (0.3 + 0.5)), not to 0
  EXPECT_NE(stationary_kl(pair).reason, "");
  SdePair plane =
      pair_of({"x - x^3 + 0.1 y", "-y + 0.1 x"}, {"x - x^3 + 0.1 y", "-y + 0.1 x"}, 1.0, 1.0);
  EXPECT_EQ(stationary_kl(plane).kl.value.value(), 0.0);
  plane.q.start.mean(0) = 1.0;  // no rate is proven
  EXPECT_NE(stationary_kl(plane).reason, "");
  // Wells and contracting drifts forget.
  SdePair wells = pair_of({"x - x^3"}, {"x - x^3"}, 1.0, 1.0);
  wells.q.start.mean(0) = 1.0;
  EXPECT_EQ(stationary_kl(wells).kl.value.value(), 0.0);
}

TEST(StationaryKl, SpikesBetweenTheNodesAreSeen) {
  // A push of width 1e-5 and area sqrt(pi) at 0.3 lifts the density beyond it by e^{2 sqrt(pi)}.
  const KlBound found =
      stationary_kl(pair_of({"-x + 1e5*exp(-1e10*(x - 0.3)^2)"}, {"-x"}, 1.0, 1.0));
  ASSERT_EQ(found.reason, "");
  const double jump = 2.0 * std::sqrt(std::acos(-1.0)), above = 0.5 * std::erfc(0.3);
  const double mass = 1.0 - above + above * std::exp(jump);
  const double kl = above * std::exp(jump) / mass * jump - std::log(mass);
  EXPECT_NEAR(found.kl.value.value(), kl, 1e-4 * kl);
}

TEST(StationaryKl, DriftsThatJump) {
  // Against the midpoint rule with 400,000 cells in double precision.
  const Covariance noise = Isotropic{1.0842, 1};
  const GaussianDistribution start{VectorXd::Zero(1), Isotropic{0.3, 1}};
  const SdePair pair{
      {potential_diffusion({"x"}, "2.727*x^2/2 + 0.434*abs(x + 0.99)", noise), start},
      {potential_diffusion({"x"}, "2.727*x^2/2 + 0.434*abs(x + 0.99) - 0.268*abs(x)", noise),
       start}};
  EXPECT_NEAR(stationary_kl(pair).kl.value.value(), 0.0096364354826, 1e-9);
  EXPECT_NEAR(stationary_kl({pair.q, pair.p}).kl.value.value(), 0.0100203706586, 1e-9);
}

TEST(StationaryKl, NarrowAndFarDensities) {
  // Densities that hardly meet, and one that 1,000 equal panels would not hold: against the normal distributions that
  // they nearly are.
  const GaussianDistribution p{VectorXd::Constant(1, 900.0), Isotropic{5e-3, 1}},
      q{VectorXd::Constant(1, 901.0), Isotropic{5e-3, 1}};
  const KlBound found =
      stationary_kl(pair_of({"-100 (x - 900) + 1e-9 sin(x)"}, {"-100 (x - 901)"}, 1.0, 1.0));
  ASSERT_EQ(found.reason, "");
  EXPECT_NEAR(found.kl.value.value(), start_kl(p, q), 1e-6 * start_kl(p, q));
}

}  // namespace
}  // namespace sfumato
