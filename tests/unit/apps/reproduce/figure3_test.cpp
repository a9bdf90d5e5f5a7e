#include "reproduce/figure3.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <string>
#include <tuple>

namespace sfumato::apps {
namespace {

using Eigen::Vector2d;
using D = QuadraticDifference;

// The table of Spec §13.3, to the digits printed there.
class GainTable : public ::testing::TestWithParam<std::tuple<D, double, double, double>> {};

TEST_P(GainTable, IsThatOfTheSpecification) {
  const auto [difference, condition, printed, half_unit] = GetParam();
  const QuadraticPair pair = quadratic_pair(difference, condition);
  const EqualErrorGain gain = gain_at_equal_error(pair, kFigure3Error, Direction::forward);
  EXPECT_NEAR(gain.gain, printed, half_unit);
  EXPECT_DOUBLE_EQ(gain.gain, gain.kl_isotropic / gain.kl_best);
  if (const auto formula = stationary_gain(pair, kFigure3Error)) {
    EXPECT_NEAR(gain.gain, *formula, 1e-9 * *formula);
  } else {
    EXPECT_EQ(difference, D::generic_row);
  }
}

INSTANTIATE_TEST_SUITE_P(Figure3, GainTable,
                         ::testing::Values(std::tuple{D::minimiser_shift, 10.0, 3.025, 1e-9},
                                           std::tuple{D::minimiser_shift, 100.0, 25.5025, 1e-9},
                                           std::tuple{D::gradient_shift, 10.0, 1.0, 0.0},
                                           std::tuple{D::gradient_shift, 100.0, 1.0, 0.0},
                                           std::tuple{D::sharp_shift, 10.0, 11.0, 1e-9},
                                           std::tuple{D::sharp_shift, 100.0, 101.0, 1e-9},
                                           std::tuple{D::flat_shift, 10.0, 1.1, 1e-9},
                                           std::tuple{D::flat_shift, 100.0, 1.01, 1e-9},
                                           std::tuple{D::curvature, 10.0, 1.0, 0.0},
                                           std::tuple{D::curvature, 100.0, 1.0, 0.0},
                                           std::tuple{D::sharp_row, 10.0, 6.09, 0.005},
                                           std::tuple{D::sharp_row, 100.0, 10.4, 0.05},
                                           std::tuple{D::generic_row, 10.0, 1.25, 0.005},
                                           std::tuple{D::generic_row, 100.0, 1.61, 0.005}),
                         [](const auto& parameter) {
                           return std::string(name(std::get<0>(parameter.param))) + "_" +
                                  std::to_string(std::lround(std::get<1>(parameter.param)));
                         });

// stationary_quadratic_design of tests/golden/golden.json, cases 01 to 03.
TEST(GainAtEqualError, FindsTheDesignsOfTheGoldenFile) {
  const auto expect = [](D difference, double condition, const Vector2d& variances, double kl_best,
                         double kl_isotropic, double isotropic) {
    const EqualErrorGain got =
        gain_at_equal_error(quadratic_pair(difference, condition), 0.5, Direction::forward);
    EXPECT_NEAR(got.best_variances(0), variances(0), 1e-6 * variances(0));
    EXPECT_NEAR(got.best_variances(1), variances(1), 1e-6 * variances(1));
    EXPECT_NEAR(got.kl_best, kl_best, 1e-12);
    EXPECT_NEAR(got.kl_isotropic, kl_isotropic, 1e-12);
    EXPECT_NEAR(got.isotropic_variance, isotropic, 1e-13);
    EXPECT_FALSE(got.is_degenerate());
  };
  expect(D::minimiser_shift, 10.0, {5.0, 0.5}, 0.04, 0.121, 0.9090909090909091);
  expect(D::minimiser_shift, 100.0, {50.0, 0.5}, 0.04, 1.0201, 0.9900990099009901);
  expect(D::gradient_shift, 10.0, {0.9090909090909091, 0.9090909090909091}, 0.0121, 0.0121,
         0.9090909090909091);
}

TEST(GainAtEqualError, BothNoisesHaveTheErrorAskedFor) {
  for (const D difference : kQuadraticDifferences) {
    for (const double time : {0.5, kFigure3Time}) {
      const QuadraticPair pair = quadratic_pair(difference, 10.0);
      const EqualErrorGain got = gain_at_equal_error(pair, 0.7, Direction::reverse, time);
      const NoiseEffect best = noise_effect(pair, got.best_variances, time);
      const NoiseEffect isotropic =
          noise_effect(pair, Vector2d::Constant(got.isotropic_variance), time);
      EXPECT_NEAR(best.error, 0.7, 1e-12) << name(difference) << " at " << time;
      EXPECT_NEAR(isotropic.error, 0.7, 1e-12) << name(difference) << " at " << time;
      EXPECT_DOUBLE_EQ(best.kl_reverse, got.kl_best) << name(difference) << " at " << time;
      EXPECT_DOUBLE_EQ(isotropic.kl_reverse, got.kl_isotropic);
    }
  }
}

TEST(GainAtEqualError, NamesNoiseThatDegenerates) {
  const auto best = [](D difference) {
    return gain_at_equal_error(quadratic_pair(difference, 10.0), 0.5, Direction::forward);
  };
  EXPECT_TRUE(best(D::sharp_shift).is_degenerate());
  EXPECT_EQ(best(D::sharp_shift).best_variances(1), 0.0);
  EXPECT_TRUE(best(D::flat_shift).is_degenerate());
  EXPECT_EQ(best(D::flat_shift).best_variances(0), 0.0);
  EXPECT_FALSE(best(D::minimiser_shift).is_degenerate());
}

// Without noise along an axis both means agree there to rounding, and half of the KL would seem to
// vanish; the means differ by e^-90, so in truth it is infinite.
TEST(GainAtEqualError, IsNotTakenInByAnAxisWithoutNoise) {
  for (const Direction direction : kDirections) {
    const EqualErrorGain got =
        gain_at_equal_error(quadratic_pair(D::curvature, 100.0), 0.5, direction);
    EXPECT_EQ(got.gain, 1.0);
    EXPECT_FALSE(got.is_degenerate());
  }
}

TEST(GainAtEqualError, RefusesAnErrorBelowTheBias) {
  const QuadraticPair pair = quadratic_pair(D::minimiser_shift, 10.0);
  EXPECT_THROW((void)gain_at_equal_error(pair, 0.0, Direction::forward), InvalidArgument);
  EXPECT_THROW((void)gain_at_equal_error(pair, std::nan(""), Direction::forward), InvalidArgument);
  EXPECT_THROW((void)gain_at_equal_error(pair, HUGE_VAL, Direction::forward), InvalidArgument);
  // The bias at t = 0.01 is e^-0.2 + e^-0.02 = 1.799, coming from |x*|^2 = 2.
  EXPECT_THROW((void)gain_at_equal_error(pair, 1.79, Direction::forward, 0.01), InvalidArgument);
  EXPECT_NO_THROW((void)gain_at_equal_error(pair, 1.81, Direction::forward, 0.01));
}

TEST(StationaryGain, RefusesAnErrorThatIsNotPositive) {
  const QuadraticPair pair = quadratic_pair(D::minimiser_shift, 10.0);
  EXPECT_THROW((void)stationary_gain(pair, 0.0), InvalidArgument);
}

TEST(QuadraticPair, IsWhatItsNameSays) {
  const double c = 10.0;
  const auto shift = [&](D difference) -> Vector2d {
    const QuadraticLoss loss = quadratic_pair(difference, c).d_prime;
    return *minimum(loss).point - Vector2d(1.0, 1.0);
  };
  EXPECT_TRUE(shift(D::minimiser_shift).isApprox(Vector2d(0.1, 0.1)));
  EXPECT_TRUE(shift(D::gradient_shift).isApprox(Vector2d(0.01, 0.1)));
  EXPECT_TRUE(shift(D::sharp_shift).isApprox(Vector2d(0.1, 0.0)));
  EXPECT_TRUE(shift(D::flat_shift).isApprox(Vector2d(0.0, 0.1)));
  EXPECT_EQ(quadratic_pair(D::minimiser_shift, c).d_prime.curvature,
            Eigen::MatrixXd(Vector2d(c, 1.0).asDiagonal()));
  EXPECT_LT(shift(D::curvature).norm(), 1e-15);
  EXPECT_TRUE(quadratic_pair(D::curvature, c)
                  .d_prime.curvature.isApprox(0.9 * quadratic_pair(D::curvature, c).d.curvature));
}

// The removed row is what A and A' differ by: rank one, leverage 0.1, residual 0.5.
TEST(QuadraticPair, RemovesOneRowOfLeastSquares) {
  for (const D difference : {D::sharp_row, D::generic_row}) {
    const QuadraticPair pair = quadratic_pair(difference, 100.0);
    const Eigen::Matrix2d gone = pair.d.curvature - pair.d_prime.curvature;
    EXPECT_NEAR(gone.determinant(), 0.0, 1e-12);
    EXPECT_NEAR(gone(0, 0) / 100.0 + gone(1, 1), 0.1, 1e-14);  // tr(A^-1 b b^T) = b^T A^-1 b
    const Vector2d row(std::sqrt(gone(0, 0)), std::sqrt(gone(1, 1)));
    const Vector2d gradient = pair.d.curvature * pair.minimiser - pair.d.pull -
                              (pair.d_prime.curvature * pair.minimiser - pair.d_prime.pull);
    EXPECT_TRUE(gradient.isApprox(0.5 * row, 1e-12)) << gradient.transpose();
  }
}

TEST(QuadraticPair, RefusesAConditionNumberThatIsNotPositive) {
  EXPECT_THROW((void)quadratic_pair(D::curvature, 0.0), InvalidArgument);
  EXPECT_THROW((void)quadratic_pair(D::curvature, std::nan("")), InvalidArgument);
}

TEST(NoiseEffect, IsTheStationaryClosedFormAtTheTimeOfThePaper) {
  const NoiseEffect got = noise_effect(quadratic_pair(D::minimiser_shift, 10.0), {4.0, 9.0});
  EXPECT_NEAR(got.kl_forward, 10.0 * 0.01 / 4.0 + 0.01 / 9.0, 1e-14);
  EXPECT_NEAR(got.kl_reverse, got.kl_forward, 1e-15);
  EXPECT_NEAR(got.error, 4.0 / 20.0 + 9.0 / 2.0, 1e-14);
}

TEST(NoiseEffect, IncludesTheBias) {
  const NoiseEffect got = noise_effect(quadratic_pair(D::minimiser_shift, 10.0), {4.0, 9.0}, 0.0);
  EXPECT_DOUBLE_EQ(got.error, 2.0);
  EXPECT_EQ(got.kl_forward, 0.0);
}

TEST(GradientDifference, IsTheRootMeanSquareAlongEachAxis) {
  const Vector2d noise(1.0, 1.0);
  const Vector2d shifted = gradient_difference(quadratic_pair(D::minimiser_shift, 10.0), noise);
  EXPECT_TRUE(shifted.isApprox(Vector2d(1.0, 0.1), 1e-12)) << shifted.transpose();
  // 0.1 l_i times the standard deviation sqrt(1 / (2 l_i))
  const Vector2d curved = gradient_difference(quadratic_pair(D::curvature, 10.0), noise);
  EXPECT_TRUE(curved.isApprox(Vector2d(std::sqrt(0.05), std::sqrt(0.005)), 1e-12))
      << curved.transpose();
}

TEST(NoisePlane, CoversTheSquareOnce) {
  const QuadraticPair pair = quadratic_pair(D::generic_row, 100.0);
  const std::vector<PlanePoint> plane = noise_plane(pair, 7);
  ASSERT_EQ(plane.size(), 64u);
  EXPECT_DOUBLE_EQ(plane.front().x, 0.1);
  EXPECT_DOUBLE_EQ(plane.front().y, 0.1);
  EXPECT_DOUBLE_EQ(plane[1].y, 0.8);
  EXPECT_DOUBLE_EQ(plane[8].x, 0.8);
  EXPECT_DOUBLE_EQ(plane.back().x, 5.0);
  EXPECT_DOUBLE_EQ(plane.back().y, 5.0);
  const NoiseEffect corner = noise_effect(pair, {25.0, 25.0});
  EXPECT_EQ(plane.back().effect.kl_forward, corner.kl_forward);
  EXPECT_EQ(plane.back().effect.kl_reverse, corner.kl_reverse);
  EXPECT_EQ(plane.back().effect.error, corner.error);
  EXPECT_THROW((void)noise_plane(pair, 0), InvalidArgument);
}

TEST(IsotropicLine, IsTheDiagonalOfThePlaneWithTheBestBeside) {
  const QuadraticPair pair = quadratic_pair(D::minimiser_shift, 10.0);
  const std::vector<LinePoint> line = isotropic_line(pair, 3);
  const std::vector<PlanePoint> plane = noise_plane(pair, 3);
  ASSERT_EQ(line.size(), 4u);
  for (std::size_t i = 0; i < line.size(); ++i) {
    EXPECT_EQ(line[i].x, plane[5 * i].x);
    EXPECT_EQ(line[i].isotropic.kl_forward, plane[5 * i].effect.kl_forward);
    EXPECT_NEAR(line[i].forward.gain, 3.025, 1e-9);  // of pure shifts, at any error
  }
  EXPECT_THROW((void)isotropic_line(pair, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
