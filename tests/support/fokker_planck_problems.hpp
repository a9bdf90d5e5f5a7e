// The problems of the golden file's section 12 and of ERRATA row 1, as callables.
#pragma once

#include "sfumato/sde/fokker_planck/domain.hpp"

namespace sfumato::testing {

inline StartedDiffusion started(Field drift, Noise noise, const Eigen::VectorXd& mean,
                                double variance) {
  return {{mean.size(), std::move(drift), std::move(noise)},
          {mean, Isotropic{variance, mean.size()}}};
}

/// dX = -rate (X - target) dt + sqrt(noise) dW from N(mean, variance).
inline StartedDiffusion ornstein_uhlenbeck(double rate, double target, double noise, double mean,
                                           double variance) {
  return started(
      [=](double, const ConstPoints& x, MutablePoints out) { out = -rate * (x - target); },
      Covariance(Isotropic{noise, 1}), Eigen::VectorXd::Constant(1, mean), variance);
}

/// b = x - x^3 + shift + slope x from N(0.3, 0.2).
inline StartedDiffusion double_well(double shift, double slope, double noise) {
  return started([=](double, const ConstPoints& x,
                     MutablePoints out) { out = x - x * x * x + shift + slope * x; },
                 Covariance(Isotropic{noise, 1}), Eigen::VectorXd::Constant(1, 0.3), 0.2);
}
inline StartedDiffusion double_well_p() { return double_well(0.0, 0.0, 0.64); }
inline StartedDiffusion double_well_q(double noise) { return double_well(0.2, 0.1, noise); }

/// ERRATA row 1: Sigma = S(x) = 1 + 0.5 / (1 + x^2) with b = -x - ((1 - S)(-2 x) - S'), against
/// b' = -x with Sigma' = 1; both from N(0, 0.5).
inline StartedDiffusion multiplicative_p() {
  const auto slope = [](const ConstPoints& x) -> Points { return -x / (1.0 + x * x).square(); };
  const auto variance = [](const ConstPoints& x) -> Points { return 1.0 + 0.5 / (1.0 + x * x); };
  return started(
      [=](double, const ConstPoints& x, MutablePoints out) {
        out = -x - ((1.0 - variance(x)) * (-2.0 * x) - slope(x));
      },
      DiagonalNoise{[=](double, const ConstPoints& x, MutablePoints out) { out = variance(x); },
                    [=](double, const ConstPoints& x, MutablePoints out) { out = slope(x); }},
      Eigen::VectorXd::Zero(1), 0.5);
}
inline StartedDiffusion multiplicative_q() { return ornstein_uhlenbeck(1.0, 0.0, 1.0, 0.0, 0.5); }

/// f = x^4/4 - x^2/2 + (y - x/2)^2 - tilt_x x - tilt_y y, Sigma = 0.5 I, from N((0.3, 0), 0.2 I).
inline StartedDiffusion double_well_2d(double tilt_x, double tilt_y) {
  return started(
      [=](double, const ConstPoints& at, MutablePoints out) {
        const auto x = at.col(0);
        const auto y = at.col(1);
        out.col(0) = x - x * x * x + (y - 0.5 * x) + tilt_x;
        out.col(1) = -2.0 * (y - 0.5 * x) + tilt_y;
      },
      Covariance(Isotropic{0.5, 2}), Eigen::Vector2d(0.3, 0.0), 0.2);
}

}  // namespace sfumato::testing
