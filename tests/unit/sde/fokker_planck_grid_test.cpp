// Cells, masses and Gaussian starts of Spec §12.3 and §12.4.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "sfumato/sde/fokker_planck/grid.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

TEST(FokkerPlanckGrid, CellsFacesAndStrides) {
  const Grid grid({GridAxis{-1.0, 1.0, 4}, GridAxis{0.0, 6.0, 6}});
  EXPECT_EQ(grid.dimension(), 2);
  EXPECT_EQ(grid.size(), 24);
  EXPECT_DOUBLE_EQ(grid.volume(), 0.5);
  EXPECT_DOUBLE_EQ(grid.axis(0).center(0), -0.75);
  EXPECT_DOUBLE_EQ(grid.axis(0).face(0), -0.5);
  EXPECT_EQ(grid.stride(0), 6);
  EXPECT_EQ(grid.stride(1), 1);
  EXPECT_EQ(Grid({{0.0, 1.0}}, 10).stride(0), 1);
}

TEST(FokkerPlanckGrid, RefusesWhatIsNotAGrid) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Grid(std::vector<GridAxis>{}), InvalidArgument);
  EXPECT_THROW(Grid(std::vector<GridAxis>(3, {0.0, 1.0, 8})), InvalidArgument);
  EXPECT_THROW(Grid({GridAxis{1.0, 1.0, 8}}), InvalidArgument);
  EXPECT_THROW(Grid({GridAxis{0.0, nan, 8}}), InvalidArgument);
  EXPECT_THROW(Grid({GridAxis{0.0, 1.0, 3}}), InvalidArgument);
}

TEST(FokkerPlanckGrid, BoundaryMassCountsTheOutermostFiftieth) {
  const Grid line({{0.0, 1.0}}, 100);
  EXPECT_NEAR(boundary_mass(line, ArrayXd::Ones(100)), 0.04, 1e-15);
  const Grid coarse({{0.0, 1.0}}, 10);  // a fifth of a cell at either end
  EXPECT_NEAR(boundary_mass(coarse, ArrayXd::Ones(10)), 0.04, 1e-15);
  const Grid square({{0.0, 1.0}, {0.0, 1.0}}, 100);
  EXPECT_NEAR(boundary_mass(square, ArrayXd::Ones(10000)), 1.0 - 0.96 * 0.96, 1e-12);
}

TEST(FokkerPlanckGrid, GaussianDensityHasTheValuesAndMassOne) {
  const Grid grid({{-5.0, 5.0}}, 200);
  const ArrayXd density = gaussian_density(grid, {VectorXd::Constant(1, 0.3), Isotropic{0.2, 1}});
  EXPECT_NEAR(mass(grid, density), 1.0, 1e-14);
  const double x = grid.axis(0).center(120);
  EXPECT_NEAR(density(120),
              std::exp(-(x - 0.3) * (x - 0.3) / 0.4) / std::sqrt(0.4 * std::numbers::pi), 1e-13);

  const Grid plane({{-6.0, 6.0}, {-7.0, 7.0}}, 80);
  const Eigen::Matrix2d v = (Eigen::Matrix2d() << 0.5, 0.2, 0.2, 0.6).finished();
  const ArrayXd both = gaussian_density(plane, {Vector2d(0.3, -0.4), Dense{v}});
  EXPECT_NEAR(mass(plane, both), 1.0, 1e-14);
  double moment = 0.0;
  for (Eigen::Index i = 0; i < 80; ++i) {
    for (Eigen::Index j = 0; j < 80; ++j) {
      moment +=
          both(i * 80 + j) * (plane.axis(0).center(i) - 0.3) * (plane.axis(1).center(j) + 0.4);
    }
  }
  EXPECT_NEAR(moment * plane.volume(), 0.2, 1e-12);  // axis 0 is the slow one
}

TEST(FokkerPlanckGrid, RefusesNarrowAndOutlyingStarts) {
  const Grid grid({{-1.0, 1.0}}, 20);
  const VectorXd zero = VectorXd::Zero(1);
  EXPECT_THROW((void)gaussian_density(grid, point_distribution(zero)), InvalidArgument);
  try {
    (void)gaussian_density(grid, {zero, Isotropic{0.0025, 1}});
    FAIL() << "a start of half a cell was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("0.5 cells"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("more cells"), std::string::npos);
  }
  EXPECT_THROW((void)gaussian_density(grid, {VectorXd::Constant(1, 0.9), Isotropic{0.04, 1}}),
               InvalidArgument);
  EXPECT_THROW((void)gaussian_density(grid, {Vector2d(0, 0), Isotropic{0.04, 2}}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
