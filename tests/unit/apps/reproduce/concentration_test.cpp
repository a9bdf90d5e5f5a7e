// Spec §4.4 (1), (2).
#include "reproduce/concentration.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sfumato::apps {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double printed(const VectorXd& d, const Covariance& v, double epsilon) {
  return delta_from_concentration_as_printed(d, v, Epsilon(epsilon)).value.probability();
}
double whitened(const VectorXd& d, const Covariance& v, double epsilon) {
  return delta_from_concentration_whitened(d, v, Epsilon(epsilon)).value.probability();
}

TEST(Concentration, MatchesTheGoldenValues) {
  const VectorXd one = VectorXd::Ones(1);
  EXPECT_NEAR(printed(one, Isotropic{1.0, 1}, 1.0), 0.8824969025845954028649, 1e-14);
  EXPECT_NEAR(whitened(one, Isotropic{1.0, 1}, 1.0), 0.8824969025845954028649, 1e-14);
  const VectorXd d = (VectorXd(2) << 1.0, 0.2).finished();
  const MatrixXd v = (MatrixXd(2, 2) << 4.0, 0.0, 0.0, 0.25).finished();
  for (const Covariance& covariance :
       {Covariance(Dense{v}), Covariance(Diagonal{v.diagonal()}),
        Covariance(Factored{(VectorXd(2) << 3.0, 0.25).finished(),
                            (MatrixXd(2, 1) << 1.0, 0.0).finished()})}) {
    EXPECT_NEAR(printed(d, covariance, 1.205), 0.836996037176101995644, 1e-12);
    EXPECT_NEAR(whitened(d, covariance, 1.205), 0.2953742167708394491523, 1e-12);
  }
}

TEST(Concentration, SaysNothingBelowTheKl) {
  const VectorXd two = VectorXd::Constant(1, 2.0);
  for (const double epsilon : {0.0, 1.0, 2.0}) {  // KL = 2
    EXPECT_EQ(printed(two, Isotropic{1.0, 1}, epsilon), 1.0);
    EXPECT_EQ(whitened(two, Isotropic{1.0, 1}, epsilon), 1.0);
  }
  EXPECT_LT(whitened(two, Isotropic{1.0, 1}, 2.5), 1.0);
}

TEST(Concentration, EdgesAndClaim) {
  const VectorXd zero = VectorXd::Zero(2);
  EXPECT_EQ(printed(zero, Isotropic{1.0, 2}, 0.0), 1.0);
  EXPECT_EQ(whitened(zero, Isotropic{1.0, 2}, 0.5), 0.0);
  EXPECT_EQ(printed(zero, Isotropic{1.0, 2}, 0.5), 0.0);
  // e^{-1e6} is not zero, so the bound is not either.
  EXPECT_GT(whitened(VectorXd::Constant(1, 0.1), Isotropic{1.0, 1}, 1000.0), 0.0);
  const Claimed<Delta> bound =
      delta_from_concentration_as_printed(zero, Isotropic{1.0, 2}, Epsilon(1.0));
  EXPECT_EQ(bound.claim, Claim::upper_bound);
  EXPECT_EQ(bound.method, "concentration of log(p/q), as printed");
  ASSERT_EQ(bound.assumptions.size(), 2u);
  EXPECT_EQ(bound.assumptions[0], "p and q are normal with the same covariance");
}

TEST(Concentration, RefusesBadInput) {
  const Epsilon epsilon(1.0);
  const VectorXd two = VectorXd::Ones(2);
  EXPECT_THROW((void)delta_from_concentration_as_printed(two, Isotropic{1.0, 3}, epsilon),
               InvalidArgument);
  EXPECT_THROW((void)delta_from_concentration_whitened(two, Isotropic{1.0, 3}, epsilon),
               InvalidArgument);
  EXPECT_THROW((void)delta_from_concentration_whitened(two, Isotropic{0.0, 2}, epsilon),
               NumericalFailure);
  VectorXd bad = two;
  bad(1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)delta_from_concentration_as_printed(bad, Isotropic{1.0, 2}, epsilon),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
