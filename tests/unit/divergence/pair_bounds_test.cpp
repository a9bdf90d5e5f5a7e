#include "sfumato/divergence/pair_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

MatrixXd matrix(double a, double b, double c, double d) {
  return (Matrix2d() << a, b, c, d).finished();
}

OuPair pair_of(const MatrixXd& a, const MatrixXd& a_prime, const Covariance& noise) {
  const GaussianLaw start{Vector2d(0.5, -0.25), Isotropic{0.1, 2}};
  return {{a, Vector2d(2, 3), noise}, start, {a_prime, Vector2d(1, 4), noise}, start};
}

const PairBound& row(const std::vector<PairBound>& rows, const std::string& key) {
  for (const PairBound& bound : rows) {
    if (bound.key == key) return bound;
  }
  throw InvalidArgument("no row " + key, "Check the key");
}

TEST(PairBounds, ConstantsOfDiagonalCurvatures) {
  const SdePair pair =
      linear_pair(pair_of(matrix(2, 0, 0, 3), matrix(1, 0, 0, 4), Isotropic{0.5, 2}));
  ASSERT_TRUE(pair.constants.value) << pair.constants.reason;
  const LangevinConstants& c = pair.constants.value->forward;
  EXPECT_EQ(c.dimension, 2);
  EXPECT_EQ(c.f.kappa, 2.0);
  EXPECT_EQ(c.f.lipschitz, 3.0);
  EXPECT_EQ(c.f_prime.kappa, 1.0);
  EXPECT_EQ(c.variance, 0.5);
  EXPECT_DOUBLE_EQ(c.start_distance, 0.25 + 1.5625 + 0.2);  // from the minimiser (1, 1)
  EXPECT_EQ(c.minimiser_distance, 0.0);
  EXPECT_EQ(*c.gradient_at_minimiser, 0.0);
  EXPECT_EQ(*c.gap_lipschitz, 1.0);
}

TEST(PairBounds, ConstantsDoNotDependOnTheBasis) {
  const Matrix2d turn = (Matrix2d() << 0.8, -0.6, 0.6, 0.8).finished();
  OuPair straight = pair_of(matrix(2, 0, 0, 3), matrix(1, 0, 0, 5), Isotropic{0.5, 2});
  OuPair turned = straight;
  for (OuProcess* process : {&turned.p, &turned.q}) {
    process->curvature = turn * process->curvature * turn.transpose();
    process->pull = turn * process->pull;
  }
  turned.start_p.mean = turned.start_q.mean = turn * straight.start_p.mean;
  const PairConstants a = *linear_pair(straight).constants.value;
  const PairConstants b = *linear_pair(turned).constants.value;
  for (const auto member : {&PairConstants::forward, &PairConstants::reverse}) {
    EXPECT_NEAR((a.*member).minimiser_distance, (b.*member).minimiser_distance, 1e-14);
    EXPECT_NEAR((a.*member).start_distance, (b.*member).start_distance, 1e-14);
    EXPECT_NEAR(*(a.*member).gradient_at_minimiser, *(b.*member).gradient_at_minimiser, 1e-14);
    EXPECT_GT((a.*member).minimiser_distance, 0.1);
  }
}

TEST(PairBounds, WhatIsNotKnownIsSaid) {
  const MatrixXd a = matrix(2, 0, 0, 3);
  const SdePair anisotropic = linear_pair(pair_of(a, a, Diagonal{Vector2d(1, 2)}));
  EXPECT_NE(anisotropic.constants.reason.find("isotropic"), std::string::npos);
  EXPECT_TRUE(anisotropic.sensitivity.value);
  const SdePair flat = linear_pair(pair_of(matrix(2, 0, 0, 0), a, Isotropic{1.0, 2}));
  EXPECT_NE(flat.constants.reason.find("strongly convex"), std::string::npos);
  EXPECT_NE(flat.sensitivity.reason.find("unbounded"), std::string::npos);
  OuPair noises = pair_of(a, a, Isotropic{1.0, 2});
  noises.q.noise = Isotropic{2.0, 2};
  EXPECT_FALSE(common_noise(linear_pair(noises)).value);
  EXPECT_EQ(gdp_bound(linear_pair(noises), 1.0).reason, "needs equal noise");
  OuPair starts = pair_of(a, a, Isotropic{1.0, 2});
  starts.start_q.mean(0) += 1.0;
  EXPECT_EQ(gdp_bound(linear_pair(starts), 1.0).reason, "needs a common start");
  EXPECT_NE(linear_pair(starts).constants.reason.find("common start"), std::string::npos);
}

TEST(PairBounds, SensitivityOfAConstantGap) {
  const MatrixXd a = matrix(2, 0, 0, 2);
  const SdePair pair = linear_pair(pair_of(a, a, Diagonal{Vector2d(1, 4)}));
  EXPECT_DOUBLE_EQ(pair.sensitivity.value->value, std::sqrt(1.0 + 0.25));
  // Spec §6.4 is sharp here: b - b' is constant and the drift contracts at the rate 2 everywhere.
  const auto rows = closed_form_bounds(pair, 1.5);
  EXPECT_GE(row(rows, "sensitivity").forward.kl.value, row(rows, "exact").forward.kl.value);
}

TEST(PairBounds, SmoothnessOfStarts) {
  const SmoothStart normal = smoothness({Vector2d(1, 2), Diagonal{Vector2d(0.5, 2.0)}});
  EXPECT_EQ(normal.fisher_information, 2.5);
  EXPECT_EQ(normal.lsi_constant, 4.0);
  EXPECT_EQ(smoothness(point_law(Vector2d(1, 2))).fisher_information, kInf);
}

TEST(PairBounds, Refusals) {
  const MatrixXd a = matrix(2, 0, 0, 3);
  const SdePair pair = linear_pair(pair_of(a, a, Isotropic{1.0, 2}));
  EXPECT_THROW((void)closed_form_bounds(pair, -1.0), InvalidArgument);
  EXPECT_THROW((void)closed_form_bounds(pair, std::nan("")), InvalidArgument);
  EXPECT_THROW((void)linear_pair(pair_of(matrix(1, 2, 0, 1), a, Isotropic{1.0, 2})),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
