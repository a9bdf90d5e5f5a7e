// Boxes that hold the distributions, and coordinates in which noises are diagonal (Spec §12.3, §12.4).
#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/sde/fokker_planck/coordinates.hpp"
#include "sfumato/sde/fokker_planck/domain.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;

TEST(FindDomain, HoldsBothDistributionsAndLittleMore) {
  // Stationary N(1, 0.5) and N(-1, 0.5): 1e-14 of the peak is 8.03 standard deviations away.
  const auto box = find_domain({testing::ornstein_uhlenbeck(1.0, 1.0, 1.0, 0.0, 0.1),
                                testing::ornstein_uhlenbeck(1.0, -1.0, 1.0, 0.0, 0.1)},
                               0.0, {10.0});
  ASSERT_EQ(box.size(), 1U);
  const double reach = 1.0 + 8.03 * std::sqrt(0.5);
  EXPECT_LT(box[0].lower, -reach);
  EXPECT_GT(box[0].upper, reach);
  EXPECT_GT(box[0].lower, -1.3 * reach);
  EXPECT_LT(box[0].upper, 1.3 * reach);
}

TEST(FindDomain, WorksInThePlane) {
  const auto box = find_domain({testing::double_well_2d(0.0, 0.0)}, 0.0, {4.0});
  ASSERT_EQ(box.size(), 2U);
  for (const Interval& side : box) {
    EXPECT_LT(side.lower, -2.5);
    EXPECT_GT(side.upper, 2.5);
    EXPECT_LT(side.upper - side.lower, 12.0);
  }
}

TEST(FindDomain, RefusesADistributionThatEscapes) {
  const auto escaping = testing::ornstein_uhlenbeck(-3.0, 0.0, 1.0, 0.0, 0.1);
  EXPECT_THROW((void)find_domain({escaping}, 0.0, {10.0}), NumericalFailure);
}

TEST(DiagonalisingMap, MakesBothNoisesDiagonal) {
  const Matrix2d s = (Matrix2d() << 1.0, 0.4, 0.4, 0.5).finished();
  const Matrix2d s2 = (Matrix2d() << 0.8, -0.2, -0.2, 0.9).finished();
  const Field pull =
      testing::on_plane([](double, double x, double y) { return std::pair(-x + y, -2.0 * y); });
  const Diffusion p{2, pull, Covariance(Dense{s})};
  const Diffusion q{2, pull, Covariance(Dense{s2})};
  const LinearMap map = diagonalising_map(p, q);
  const MatrixXd first = map.forward * s * map.forward.transpose();
  const MatrixXd second = map.forward * s2 * map.forward.transpose();
  EXPECT_LT((first - MatrixXd::Identity(2, 2)).norm(), 1e-14);
  EXPECT_LT(std::abs(second(0, 1)), 1e-14);
  EXPECT_LT((map.forward * map.backward - MatrixXd::Identity(2, 2)).norm(), 1e-14);

  // The drift moves as a vector.
  const Diffusion moved = mapped(p, map);
  const Vector2d x(0.3, -0.7);
  const Points z = (map.forward * x).transpose().array();
  Points out(1, 2);
  moved.drift(0.0, z, out);
  const Vector2d expected = map.forward * Vector2d(-1.0, 1.4);
  EXPECT_NEAR(out(0, 0), expected(0), 1e-14);
  EXPECT_NEAR(out(0, 1), expected(1), 1e-14);

  // The image of a box is covered.
  const auto image = mapped(std::vector<Interval>{{-1.0, 2.0}, {-3.0, 4.0}}, map);
  for (const double a : {-1.0, 2.0}) {
    for (const double b : {-3.0, 4.0}) {
      const Vector2d corner = map.forward * Vector2d(a, b);
      for (Eigen::Index k = 0; k < 2; ++k) {
        EXPECT_GE(corner(k), image[static_cast<std::size_t>(k)].lower - 1e-12);
        EXPECT_LE(corner(k), image[static_cast<std::size_t>(k)].upper + 1e-12);
      }
    }
  }
}

TEST(DiagonalisingMap, IsTheIdentityWhereNothingIsToDo) {
  const auto distribution = testing::double_well_2d(0.0, 0.0);
  EXPECT_TRUE(
      diagonalising_map(distribution.diffusion, distribution.diffusion).forward.isIdentity(0.0));
}

TEST(DiagonalisingMap, RefusesWhatNoMapCanDo) {
  const Matrix2d full = (Matrix2d() << 1.0, 0.4, 0.4, 0.5).finished();
  const Matrix2d singular = (Matrix2d() << 1.0, 1.0, 1.0, 1.0).finished();
  const Field field =
      testing::on_plane([](double, double x, double y) { return std::pair(x * 0 + 1, y * 0 + 1); });
  const Diffusion constant{2, field, Covariance(Dense{full})};
  const Diffusion state{2, field, DiagonalNoise{field, field}};
  EXPECT_THROW((void)diagonalising_map(constant, state), InvalidArgument);
  EXPECT_THROW((void)diagonalising_map({2, field, Covariance(Dense{singular})}, constant),
               InvalidArgument);
  EXPECT_THROW((void)mapped(state, diagonalising_map(constant, constant)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
