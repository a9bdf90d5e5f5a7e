#include "sfumato/sde/particle_score.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

Diffusion ou2(Noise noise) {
  return {2, linear_drift(MatrixXd::Identity(2, 2), VectorXd::Zero(2)), std::move(noise)};
}
MatrixXd sigma2() { return (MatrixXd(2, 2) << 1.0, 0.2, 0.2, 0.5).finished(); }
Points particles2() { return (Points(2, 2) << 0.0, 0.3, 0.5, -0.2).finished(); }

// Values of the specification's golden file, mixture_score-02: drift -x. Spec §12.2.
TEST(ParticleScore, GoldenValueInEveryShapeOfNoise) {
  for (const Noise& noise :
       {Noise(Covariance(Dense{sigma2()})),
        Noise(MatrixNoise{[](double, const VectorXd&) { return sigma2(); }, {}})}) {
    const ParticleScore score(ou2(noise), 0.0, particles2(), 0.1);
    const auto value = score.at(Vector2d(0.2, 0.1));
    EXPECT_NEAR(value.log_density, -0.15361488131799256, 1e-14);
    EXPECT_NEAR(value.score(0), -0.8146422975237103, 1e-13);
    EXPECT_NEAR(value.score(1), 0.9679582243263606, 1e-13);
    Points out(1, 2);
    score.scores((Points(1, 2) << 0.2, 0.1).finished(), out);
    EXPECT_EQ(out(0, 0), value.score(0));
    EXPECT_EQ(out(0, 1), value.score(1));
  }
}

TEST(ParticleScore, IsTheGradientOfTheLogDensity) {
  const DiagonalNoise noise{
      [](double, const ConstPoints& at, MutablePoints out) { out = 1.0 + 0.5 * at.square(); }, {}};
  const ParticleScore score(ou2(noise), 0.0, particles2(), 0.3);
  for (const Vector2d& y : {Vector2d(0.1, 0.2), Vector2d(-3.0, 1.0), Vector2d(40.0, -30.0)}) {
    const auto value = score.at(y);
    for (Eigen::Index i = 0; i < 2; ++i) {
      const double h = 1e-5;
      const Vector2d e = h * Vector2d::Unit(i);
      const double slope = (score.at(y + e).log_density - score.at(y - e).log_density) / (2.0 * h);
      EXPECT_NEAR(value.score(i), slope, 1e-6 * (1.0 + std::abs(slope)));
    }
  }
}

TEST(ParticleScore, Refusals) {
  const auto make = [](Eigen::Index d, Noise noise, const Points& particles, double step) {
    const Diffusion diffusion{d, linear_drift(MatrixXd::Identity(d, d), VectorXd::Zero(d)),
                              std::move(noise)};
    (void)ParticleScore(diffusion, 0.0, particles, step);
  };
  const auto unit = [](Eigen::Index d) { return Noise(Covariance(Isotropic{1.0, d})); };
  EXPECT_NO_THROW(make(3, unit(3), Points::Zero(5, 3), 0.1));
  EXPECT_THROW(make(4, unit(4), Points::Zero(5, 4), 0.1), InvalidArgument);
  EXPECT_THROW(make(2, unit(2), Points::Zero(5, 3), 0.1), InvalidArgument);
  EXPECT_THROW(make(2, unit(2), Points::Zero(0, 2), 0.1), InvalidArgument);
  EXPECT_THROW(make(2, unit(2), Points::Zero(5, 2), 0.0), InvalidArgument);
  EXPECT_THROW(make(2, Covariance(Isotropic{0.0, 2}), Points::Zero(5, 2), 0.1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
