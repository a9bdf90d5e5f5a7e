// Fluxes and coefficients of Spec §12.3.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sfumato/sde/fokker_planck/operator.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

using Eigen::Vector2d;
using testing::on_line;
using testing::on_plane;

// Values of the specification's golden file, function bernoulli_function.
TEST(BernoulliFunction, GoldenValues) {
  EXPECT_EQ(bernoulli_function(0.0), 1.0);
  EXPECT_NEAR(bernoulli_function(1e-8), 0.999999995, 1e-16);
  EXPECT_NEAR(bernoulli_function(1.0), 0.5819767068693264, 1e-16);
  EXPECT_NEAR(bernoulli_function(-1.0), 1.5819767068693264, 3e-16);
  EXPECT_NEAR(bernoulli_function(30.0) / 2.807286890652315e-12, 1.0, 1e-15);
  EXPECT_NEAR(bernoulli_function(-30.0), 30.000000000002807, 1e-14);
  EXPECT_EQ(bernoulli_function(1e4), 0.0);
  EXPECT_EQ(bernoulli_function(-1e4), 1e4);
  // The series meets the formula.
  EXPECT_NEAR(bernoulli_function(0.99999e-5), bernoulli_function(1.00001e-5), 2e-10);
}

TEST(JumpRates, BalanceTheStationaryDensity) {
  // h / Sigma constant over a cell: the ratio of the rates is exp(w) exactly.
  const JumpRates rates =
      jump_rates({Eigen::ArrayXd::Constant(1, -0.7), Eigen::ArrayXd::Constant(1, 0.4)}, 0.1);
  EXPECT_NEAR(std::log(rates.up(0) / rates.down(0)), -0.7 * 0.1 / 0.2, 1e-14);
  const JumpRates strong =
      jump_rates({Eigen::ArrayXd::Constant(1, 1e6), Eigen::ArrayXd::Constant(1, 1e-3)}, 0.1);
  EXPECT_EQ(strong.down(0), 0.0);  // pure upwind
  EXPECT_NEAR(strong.up(0), 1e7, 1e-3);
}

TEST(FaceSampler, SubtractsHalfTheDivergence) {
  const Grid grid({{-2.0, 2.0}}, 8);
  FaceSampler sampler(testing::multiplicative_p().diffusion, grid);
  const auto coefficients = sampler.at(0.0);
  const double x = grid.axis(0).face(5);
  const double s = testing::multiplicative_variance(x);
  const double slope = testing::multiplicative_slope(x);
  EXPECT_NEAR((*coefficients)[0].variance(5), s, 1e-15);
  EXPECT_NEAR((*coefficients)[0].flux_drift(5), -x - ((1.0 - s) * (-2.0 * x) - slope) - 0.5 * slope,
              1e-14);
}

TEST(FaceSampler, SharesCoefficientsUntilTheyChange) {
  Diffusion moving{1, on_line([](double t, double x) { return t < 1.0 ? -x : -2.0 * x; }),
                   Covariance(Isotropic{1.0, 1})};
  FaceSampler sampler(moving, Grid({{-1.0, 1.0}}, 8));
  const auto first = sampler.at(0.0);
  EXPECT_EQ(sampler.at(0.5), first);
  const auto second = sampler.at(1.0);
  EXPECT_NE(second, first);
  EXPECT_EQ((*second)[0].flux_drift(0), 2.0 * (*first)[0].flux_drift(0));
}

TEST(FaceSampler, FacesOfAPlaneAreInStorageOrder) {
  const Grid grid({GridAxis{0.0, 4.0, 4}, GridAxis{10.0, 15.0, 5}});
  FaceSampler sampler({2, on_plane([](double, double x, double y) { return std::pair(x, y); }),
                       Covariance(Diagonal{Vector2d(1.0, 2.0)})},
                      grid);
  const auto c = sampler.at(0.0);
  ASSERT_EQ((*c)[0].flux_drift.size(), 3 * 5);
  ASSERT_EQ((*c)[1].flux_drift.size(), 4 * 4);
  EXPECT_DOUBLE_EQ((*c)[0].flux_drift(2 * 5 + 1), 3.0);   // face 2 of axis 0, any line
  EXPECT_DOUBLE_EQ((*c)[1].flux_drift(2 * 4 + 1), 12.0);  // face 1 of axis 1 in row 2
  EXPECT_EQ((*c)[1].variance(0), 2.0);
}

TEST(FaceSampler, MatrixNoiseOnTheLineEqualsDiagonalNoise) {
  const Grid grid({{-2.0, 2.0}}, 16);
  Diffusion same = testing::multiplicative_p().diffusion;
  same.noise =
      MatrixNoise{[](double, const Eigen::VectorXd& x) -> Eigen::MatrixXd {
                    return Eigen::MatrixXd::Constant(1, 1, testing::multiplicative_variance(x(0)));
                  },
                  [](double, const Eigen::VectorXd& x) -> Eigen::VectorXd {
                    return Eigen::VectorXd::Constant(1, testing::multiplicative_slope(x(0)));
                  }};
  FaceSampler a(same, grid);
  FaceSampler b(testing::multiplicative_p().diffusion, grid);
  EXPECT_TRUE(((*a.at(0.0))[0].flux_drift == (*b.at(0.0))[0].flux_drift).all());
}

TEST(FaceSampler, RefusesUnusableCoefficients) {
  const Grid line({{-1.0, 1.0}}, 8);
  const Grid plane({{-1.0, 1.0}, {-1.0, 1.0}}, 8);
  const Field pull = on_line([](double, double x) { return -x; });
  const Field pull2 = on_plane([](double, double x, double y) { return std::pair(-x, -y); });
  EXPECT_THROW(FaceSampler({1, pull, Covariance(Isotropic{1.0, 1})}, plane), InvalidArgument);
  EXPECT_THROW(FaceSampler({1, pull, Covariance(Isotropic{1.0, 2})}, line), InvalidArgument);
  const Eigen::Matrix2d full = (Eigen::Matrix2d() << 1.0, 0.3, 0.3, 1.0).finished();
  EXPECT_THROW(FaceSampler({2, pull2, Covariance(Dense{full})}, plane), InvalidArgument);

  FaceSampler silent({1, pull, Covariance(Isotropic{0.0, 1})}, line);
  EXPECT_THROW((void)silent.at(0.0), InvalidArgument);
  FaceSampler pole(
      {1, on_line([](double, double x) { return 1.0 / x; }), Covariance(Isotropic{1.0, 1})}, line);
  try {
    (void)pole.at(0.0);
    FAIL() << "an infinite drift was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("x = (0)"), std::string::npos) << error.what();
  }
  FaceSampler tilted(
      {2, pull2,
       MatrixNoise{
           [&](double, const Eigen::VectorXd&) -> Eigen::MatrixXd { return full; },
           [](double, const Eigen::VectorXd&) -> Eigen::VectorXd { return Vector2d(0, 0); }}},
      plane);
  EXPECT_THROW((void)tilted.at(0.0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
