// Values, edges and reasons of Spec §6.2 and §6.3.
#include "sfumato/divergence/contractive_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

OuProcess scalar(double rate, double target, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target),
          Isotropic{variance, 1}};
}
GaussianDistribution point(double at) { return point_distribution(VectorXd::Constant(1, at)); }
double value(const KlBound& bound) { return bound.kl.value.value(); }
bool says(const KlBound& bound, const char* text) {
  return bound.reason.find(text) != std::string::npos;
}

TEST(ContractiveBound, GoldenPair) {
  const OuPair pair{scalar(1, 0, 1), point(.5), scalar(1.5, .3, 1), point(.5)};
  EXPECT_NEAR(value(path_bound(pair, 1.0)), 0.07912605093235933, 1e-12);
  const ContractiveBound best = best_contractive_bound(pair, 1.0);
  EXPECT_EQ(best.proven_rate, 1.5);
  EXPECT_LE(value(best.bound), 0.07644733869962485 * (1 + 1e-12));  // that of kappa = 1.5
  EXPECT_GE(value(best.bound), 0.06767608301181012);                // the exact KL
  EXPECT_TRUE(best.bound.kl.assumptions.empty());
}

TEST(ContractiveBound, ConstantGap) {
  const DriftGap gap{[](double) { return 3.0; }, kInf};
  EXPECT_NEAR(contractive_bound(gap, 2.0, 0.7), 1.5 * std::tanh(0.7), 1e-13);
  EXPECT_NEAR(contractive_bound(gap, 1e3, 1e4), 3e-3, 1e-14);
  EXPECT_NEAR(path_bound(gap, 2.0), 3.0, 1e-13);
  EXPECT_NEAR(contractive_bound(gap, 0.0, 2.0), 3.0, 1e-13);
  EXPECT_EQ(contractive_bound(gap, 1.0, 0.0), 0.0);
  EXPECT_EQ(best_contractive_bound(gap, 2.0, 5.0).used_rate, 2.0);
}

// A gap that is large only at the very end: forgetting does not help, and kappa = 0 has the factor
// 1/2.
TEST(ContractiveBound, SmallerRateCanBeBetter) {
  const DriftGap gap{[](double s) { return s > 0.9 ? 1.0 : 0.0; }, kInf};
  const ContractiveBound best = best_contractive_bound(gap, 5.0, 1.0);
  EXPECT_EQ(best.used_rate, 0.0);
  EXPECT_NEAR(value(best.bound), 0.05, 1e-4);
  EXPECT_GE(value(best.bound), 0.05);
}

TEST(ContractiveBound, NotContractiveFallsBackToThePathBound) {
  const MatrixXd a = (Matrix2d() << 10, 3, 3, 1).finished();  // positive definite
  const Covariance noise = Diagonal{Vector2d(1, 1e4)};
  const OuPair pair{{a, Vector2d(0, 0), noise},
                    point_distribution(Vector2d(0, 0)),
                    {a, Vector2d(1, 0), noise},
                    point_distribution(Vector2d(0, 0))};
  const ContractiveBound best = best_contractive_bound(pair, 1.0);
  EXPECT_LT(best.proven_rate, 0.0);
  EXPECT_EQ(best.used_rate, 0.0);
  EXPECT_DOUBLE_EQ(value(best.bound), value(path_bound(pair, 1.0)));
  ASSERT_EQ(best.bound.kl.assumptions.size(), 1U);
  EXPECT_NE(best.bound.kl.assumptions[0].find("not contractive"), std::string::npos);
  EXPECT_TRUE(says(best_contractive_bound(pair, kInf).bound, "not contractive"));
}

TEST(ContractiveBound, LongRun) {
  const OuPair pair{scalar(1, 0, 1), point(0), scalar(1, 1, 1), point(0)};
  testing::expect_just_above(value(best_contractive_bound(pair, kInf).bound), 1.0);  // D / kappa
  EXPECT_TRUE(says(path_bound(pair, kInf), "grows without bound"));
  const OuPair wandering{scalar(0, 0, 1), point(0), scalar(1, 1, 1), point(0)};
  EXPECT_TRUE(says(best_contractive_bound(wandering, kInf).bound, "no finite limit"));
  const OuPair same{scalar(1, 0, 1), point(0), scalar(1, 0, 1), point(0)};
  EXPECT_EQ(value(best_contractive_bound(same, kInf).bound), 0.0);
  EXPECT_EQ(value(path_bound(same, kInf)), 0.0);
}

TEST(ContractiveBound, Obstacles) {
  const OuPair unequal{scalar(1, 0, 1), point(0), scalar(1, 1, 2), point(0)};
  EXPECT_TRUE(says(best_contractive_bound(unequal, 1.0).bound, "covariances differ"));
  EXPECT_TRUE(says(path_bound(unequal, 1.0), "covariances differ"));
  const OuPair singular{scalar(1, 0, 0), point(0), scalar(1, 1, 0), point(0)};
  EXPECT_TRUE(says(best_contractive_bound(singular, 1.0).bound, "singular"));
  const OuPair starts{scalar(1, 0, 1), point(0), scalar(1, 1, 1), point(1)};
  EXPECT_TRUE(says(path_bound(starts, 1.0), "starts"));
  const OuPair unstable{scalar(-10, 0, 1), point(1), scalar(1, 0, 1), point(1)};
  EXPECT_TRUE(says(path_bound(unstable, 1e3), "overflows"));
  EXPECT_TRUE(says(best_contractive_bound(unstable, 1e3).bound, "overflows"));
}

TEST(ContractiveBound, Refusals) {
  const DriftGap gap{[](double) { return 1.0; }, kInf};
  EXPECT_THROW((void)contractive_bound(gap, -1.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)contractive_bound(gap, kInf, 1.0), InvalidArgument);
  EXPECT_THROW((void)contractive_bound(gap, 1.0, kInf), InvalidArgument);
  const OuPair pair{scalar(1, 0, 1), point(0), scalar(1, 1, 1), point(0)};
  EXPECT_THROW((void)path_bound(pair, -1.0), InvalidArgument);
  EXPECT_THROW((void)best_contractive_bound(pair, std::nan("")), InvalidArgument);
  EXPECT_THROW((void)OuDriftGap(scalar(1, 0, 0), point(0), scalar(1, 1, 1)), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
