#include "sfumato/risk/chain_convexity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/linear_chain.hpp"
#include "support/chain_sum.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

LangevinConstants shifted(double kappa, double distance) {
  return {{kappa, kappa}, {kappa, kappa}, 2.0, 2.0, 1, distance, 0.0, kappa * distance, 0.0};
}

/// Equal curvatures and shifted minimisers, the case that attains Spec §8.3.
double exact_shifted(double kappa, double distance, double eta, double steps) {
  const MatrixXd a = MatrixXd::Constant(1, 1, kappa);
  const GaussianDistribution start = point_distribution(VectorXd::Zero(1));
  const Covariance noise = Isotropic{2.0 * eta, 1};
  return exact_kl({{a, VectorXd::Zero(1), eta, noise},
                   start,
                   {a, VectorXd::Constant(1, kappa * distance), eta, noise},
                   start},
                  steps)
      .value.value();
}

TEST(ChainConvexity, IsAttainedByShiftedQuadratics) {
  for (const double steps : {1.0, 2.0, 17.0, 1000.0, 1234567.0, kInf}) {
    const double bound = kl_bound_chain(shifted(0.5, 3.0), 0.2, steps).kl.value.value();
    EXPECT_NEAR(bound / exact_shifted(0.5, 3.0, 0.2, steps), 1.0, 1e-10) << steps;
  }
}

TEST(ChainConvexity, IsTheSumOfSpec83) {
  const LangevinConstants c{{0.5, 2.0}, {0.7, 2.5}, 1.5, 1.5, 3, 0.4, 2.0, 0.3, 0.2};
  const double eta = 0.1;
  const double own = 1.0 - eta * 0.5;
  const double other = 1.0 - eta * 0.7;
  std::vector<double> gaps;
  double u = 2.0;
  for (int j = 0; j < 40; ++j) {
    gaps.push_back(std::sqrt(eta / 1.5) * (0.2 * std::sqrt(u) + 0.3));
    u = own * own * u + 3.0 * eta * 1.5;
  }
  EXPECT_NEAR(kl_bound_chain(c, eta, 40.0).kl.value.value(), testing::chain_sum(gaps, other),
              1e-11);
}

TEST(ChainConvexity, PanelsOnlyEnlarge) {
  const LangevinConstants c{{0.01, 2.0}, {0.01, 2.5}, 1.5, 1.5, 3, 0.4, 90.0, 0.3, 0.2};
  const double eta = 0.1;
  std::vector<double> gaps;
  double u = 90.0;
  for (int j = 0; j < 5000; ++j) {
    gaps.push_back(std::sqrt(eta / 1.5) * (0.2 * std::sqrt(u) + 0.3));
    u = 0.999 * 0.999 * u + 3.0 * eta * 1.5;
  }
  const double sum = testing::chain_sum(gaps, 0.999);
  const double bound = kl_bound_chain(c, eta, 5000.0).kl.value.value();
  EXPECT_GE(bound, sum);
  EXPECT_LT(bound, 1.01 * sum);
}

TEST(ChainConvexity, Edges) {
  EXPECT_EQ(kl_bound_chain(shifted(1.0, 1.0), 0.1, 0.0).kl.value.value(), 0.0);
  const LangevinConstants flat{{0.0, 1.0}, {0.0, 1.0}, 1.0, 1.0, 1, 1.0, 1.0};
  EXPECT_FALSE(kl_bound_chain(flat, 0.1, kInf).reason.empty());
  EXPECT_LT(kl_bound_chain(flat, 0.1, 100.0).kl.value.value(), kInf);
  const LangevinConstants flat_first{{0.0, 1.0}, {1.0, 1.0}, 1.0, 1.0, 1, 1.0, 1.0};
  EXPECT_FALSE(kl_bound_chain(flat_first, 0.1, kInf).reason.empty());
  // Steps three times too long: the distance from the minimiser grows without bound.
  const KlBound wild = kl_bound_chain({{1.0, 60.0}, {1.0, 60.0}, 1.0, 1.0, 1, 1.0, 1.0}, 0.1, 1e6);
  EXPECT_EQ(wild.kl.value.value(), kInf);
  EXPECT_NE(wild.reason.find("learning rate"), std::string::npos);
  EXPECT_EQ(wild.kl.claim, Claim::upper_bound);
}

TEST(ChainConvexity, RefusesWhatItCannotUse) {
  LangevinConstants c = shifted(1.0, 1.0);
  EXPECT_THROW((void)kl_bound_chain(c, 0.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)kl_bound_chain(c, 0.1, 1.5), InvalidArgument);
  EXPECT_THROW((void)kl_bound_chain(c, 0.1, -1.0), InvalidArgument);
  c.variance_prime = 3.0;
  EXPECT_THROW((void)kl_bound_chain(c, 0.1, 1.0), InvalidArgument);
  c = shifted(1.0, NAN);
  EXPECT_THROW((void)kl_bound_chain(c, 0.1, 1.0), InvalidArgument);
}

TEST(ChainConvexity, TheLipschitzConstantIsRoundedUp) {
  const Isotropic metric{1.0, 2};
  const double c = proven_step_lipschitz({1e-9, 1.0}, 0.3, metric);
  EXPECT_LE(1.0 - c, 0.3e-9);
  EXPECT_GT(1.0 - c, 0.2999e-9);
  EXPECT_GE(proven_step_lipschitz({1.0, 3.0}, 0.5, metric), 0.5);
}

}  // namespace
}  // namespace sfumato
