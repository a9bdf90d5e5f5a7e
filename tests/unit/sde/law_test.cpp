#include "sfumato/sde/law.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(GaussianLaw, PointLawsAreSingularUnlessEqual) {
  const GaussianLaw origin = point_law(Eigen::Vector2d(0, 0));
  EXPECT_EQ(trace(origin.covariance), 0.0);
  EXPECT_FALSE(whiten(origin, origin).mutually_singular);
  EXPECT_TRUE(whiten(origin, point_law(Eigen::Vector2d(0, 1))).mutually_singular);
}

TEST(GaussianLaw, WhitenTakesTheFirstLawAsTheUnit) {
  const GaussianLaw p{Eigen::VectorXd::Constant(1, 1.0), Isotropic{4.0, 1}};
  const GaussianLaw q{Eigen::VectorXd::Constant(1, 5.0), Isotropic{12.0, 1}};
  const WhitenedPair pair = whiten(p, q);
  EXPECT_DOUBLE_EQ(pair.shift(0), 2.0);
  EXPECT_DOUBLE_EQ(pair.excess(0), 2.0);
}

}  // namespace
}  // namespace sfumato
