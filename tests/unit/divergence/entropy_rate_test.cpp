// Values, edges and reasons of Spec §6.1; random pairs are in tests/property.
#include "sfumato/divergence/entropy_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

OuProcess scalar(double rate, double target, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target),
          Isotropic{variance, 1}};
}
GaussianDistribution normal(double mean, double variance) {
  return {VectorXd::Constant(1, mean), Isotropic{variance, 1}};
}
double value(const KlBound& bound) { return bound.kl.value.value(); }
bool says(const KlBound& bound, const char* text) {
  return bound.reason.find(text) != std::string::npos;
}

// Golden values, function ou_entropy_rate and ou_pair_bounds_unequal_sigma.
TEST(EntropyRate, GoldenPair) {
  const OuPair pair{scalar(1, 0, 1), normal(0, .3), scalar(1, 0, 1.5), normal(0, .3)};
  const EntropyRate rate = OuEntropyRate(pair).at(0.5);
  EXPECT_NEAR(rate.exact.value(), 0.02993394164792044, 1e-15);
  EXPECT_NEAR(rate.primal, 0.03901132766978114, 1e-15);
  EXPECT_NEAR(rate.dual, 0.04885589899470719, 1e-15);
  const EntropyRateBounds bounds = entropy_rate_bounds(pair, 0.5);
  EXPECT_NEAR(value(bounds.primal), 0.028784442926380324, 1e-12);
  EXPECT_NEAR(value(bounds.dual), 0.02815941549770084, 1e-12);
  EXPECT_LT(value(bounds.pointwise_minimum), 0.02815941549770084);  // the rates cross
  EXPECT_EQ(bounds.primal.kl.claim, Claim::upper_bound);
  // The reverse direction is the swapped pair.
  const double reverse = exact_kl(swapped(pair), 0.5).value.value();
  EXPECT_GT(value(entropy_rate_bounds(swapped(pair), 0.5).pointwise_minimum), reverse);
}

TEST(EntropyRate, StartsThatDifferAddTheirKl) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 1), scalar(1, 0, 1), normal(2, 1)};
  const EntropyRateBounds bounds = entropy_rate_bounds(pair, 3.0);
  testing::expect_just_above(value(bounds.primal),
                             2.0);  // the same process: nothing is added, for ever
  testing::expect_just_above(value(entropy_rate_bounds(pair, kInf).dual), 2.0);
  testing::expect_just_above(value(entropy_rate_bounds(pair, 0.0).pointwise_minimum), 2.0);
  const OuPair points{scalar(1, 0, 1), normal(0, 0), scalar(1, 0, 1), normal(2, 0)};
  EXPECT_EQ(value(entropy_rate_bounds(points, 3.0).primal), kInf);
  EXPECT_TRUE(says(entropy_rate_bounds(points, 3.0).primal, "starts"));
}

TEST(EntropyRate, PointStartWithEqualNoiseIsThePathBound) {
  const OuPair pair{scalar(1, 0, 1), normal(.5, 0), scalar(1.5, .3, 1), normal(.5, 0)};
  EXPECT_NEAR(value(entropy_rate_bounds(pair, 1.0).primal), 0.07912605093235933, 1e-13);
  const EntropyRate rate = OuEntropyRate(pair).at(0.0);
  EXPECT_FALSE(rate.exact.has_value());
  EXPECT_DOUBLE_EQ(rate.primal, 0.5 * 0.2 * 0.2);  // b - b' = -0.5 + 1.5 * 0.2 at the start
  EXPECT_EQ(rate.primal, rate.dual);
}

TEST(EntropyRate, PointStartWithUnequalNoiseSaysWhy) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 0), scalar(1, 0, 1.5), normal(0, 0)};
  const EntropyRateBounds bounds = entropy_rate_bounds(pair, 1.0);
  for (const KlBound* bound : {&bounds.primal, &bounds.dual, &bounds.pointwise_minimum}) {
    EXPECT_EQ(value(*bound), kInf);
    EXPECT_TRUE(says(*bound, "diverges at time 0")) << bound->reason;
  }
  EXPECT_EQ(OuEntropyRate(pair).at(0.0).primal, kInf);
}

TEST(EntropyRate, SingularNoiseSaysWhichForm) {
  const GaussianDistribution start{Vector2d(0, 0), Isotropic{1.0, 2}};
  const OuProcess full{MatrixXd::Identity(2, 2), Vector2d(0, 0), Isotropic{1.0, 2}};
  OuProcess flat = full;
  flat.noise = Diagonal{Vector2d(1, 0)};
  const EntropyRateBounds first = entropy_rate_bounds({flat, start, full, start}, 1.0);
  EXPECT_EQ(value(first.primal), kInf);
  EXPECT_TRUE(says(first.primal, "the first process is singular")) << first.primal.reason;
  EXPECT_LT(value(first.dual), kInf);
  EXPECT_LE(value(first.pointwise_minimum), value(first.dual));
  EXPECT_GE(value(first.dual), exact_kl({flat, start, full, start}, 1.0).value.value());
  const EntropyRateBounds second = entropy_rate_bounds({full, start, flat, start}, 1.0);
  EXPECT_LT(value(second.primal), kInf);
  EXPECT_TRUE(says(second.dual, "the second process is singular"));
  OuProcess moved = flat;
  moved.pull = Vector2d(1, 0);
  const EntropyRateBounds both = entropy_rate_bounds({flat, start, moved, start}, 1.0);
  EXPECT_TRUE(says(both.primal, "singular"));
  EXPECT_TRUE(says(both.pointwise_minimum, "singular"));
}

TEST(EntropyRate, LongHorizons) {
  const OuPair pair{scalar(.5, 0, .75), normal(0, .5), scalar(1, 0, 1), normal(0, .5)};
  const OuEntropyRate rate(pair);
  const double limit = rate.at(kInf).primal;
  EXPECT_NEAR(rate.at(kInf).exact.value(), 0.0, 1e-15);
  // After relaxation the integral grows by the limiting rate.
  EXPECT_NEAR(
      value(entropy_rate_bounds(pair, 1e4).primal) - value(entropy_rate_bounds(pair, 5e3).primal),
      5e3 * limit, 1e-8 * 5e3 * limit);
  EXPECT_EQ(value(entropy_rate_bounds(pair, kInf).primal), kInf);
  EXPECT_TRUE(says(entropy_rate_bounds(pair, kInf).primal, "contractive bound"));
}

TEST(EntropyRate, Refusals) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 1), scalar(1, 0, 2), normal(0, 1)};
  EXPECT_THROW((void)entropy_rate_bounds(pair, -1.0), InvalidArgument);
  EXPECT_THROW((void)entropy_rate_bounds(pair, std::nan("")), InvalidArgument);
  OuPair sizes = pair;
  sizes.q = {MatrixXd::Identity(2, 2), Vector2d(0, 0), Isotropic{1.0, 2}};
  sizes.start_q = point_distribution(Vector2d(0, 0));
  EXPECT_THROW((void)OuEntropyRate(sizes), InvalidArgument);
  const OuPair unstable{scalar(-10, 0, 1), normal(0, 1), scalar(1, 0, 2), normal(0, 1)};
  EXPECT_THROW((void)entropy_rate_bounds(unstable, 1e3), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
