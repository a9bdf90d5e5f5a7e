// The problems of the golden file's section 12 and of ERRATA row 1, as callables.
#pragma once

#include <utility>

#include "sfumato/sde/fokker_planck/domain.hpp"

namespace sfumato::testing {

/// A field on the line from f(time, x). Plain loops: tests are not optimised, and array expressions
/// would take most of their time.
template <class F>
Field on_line(F f) {
  return [f](double time, const ConstPoints& at, MutablePoints out) {
    const double* x = at.data();
    double* y = out.data();
    for (Eigen::Index i = 0; i < at.rows(); ++i) y[i] = f(time, x[i]);
  };
}

/// A field on the plane from f(time, x, y) -> pair.
template <class F>
Field on_plane(F f) {
  return [f](double time, const ConstPoints& at, MutablePoints out) {
    const double* x = at.data();
    const double* y = x + at.outerStride();
    double* u = out.data();
    double* v = u + out.outerStride();
    for (Eigen::Index i = 0; i < at.rows(); ++i) {
      const std::pair<double, double> value = f(time, x[i], y[i]);
      u[i] = value.first;
      v[i] = value.second;
    }
  };
}

inline StartedDiffusion started(Field drift, Noise noise, const Eigen::VectorXd& mean,
                                double variance) {
  return {{mean.size(), std::move(drift), std::move(noise)},
          {mean, Isotropic{variance, mean.size()}}};
}

/// dX = -rate (X - target) dt + sqrt(noise) dW from N(mean, variance).
inline StartedDiffusion ornstein_uhlenbeck(double rate, double target, double noise, double mean,
                                           double variance) {
  return started(on_line([=](double, double x) { return -rate * (x - target); }),
                 Covariance(Isotropic{noise, 1}), Eigen::VectorXd::Constant(1, mean), variance);
}

/// b = x - x^3 + shift + slope x from N(0.3, 0.2).
inline StartedDiffusion double_well(double shift, double slope, double noise) {
  return started(on_line([=](double, double x) { return x - x * x * x + shift + slope * x; }),
                 Covariance(Isotropic{noise, 1}), Eigen::VectorXd::Constant(1, 0.3), 0.2);
}
inline StartedDiffusion double_well_p() { return double_well(0.0, 0.0, 0.64); }
inline StartedDiffusion double_well_q(double noise) { return double_well(0.2, 0.1, noise); }

/// ERRATA row 1: Sigma = S(x) = 1 + 0.5 / (1 + x^2) with b = -x - ((1 - S)(-2 x) - S'), against
/// b' = -x with Sigma' = 1; both from N(0, 0.5).
inline double multiplicative_variance(double x) { return 1.0 + 0.5 / (1.0 + x * x); }
inline double multiplicative_slope(double x) { return -x / ((1.0 + x * x) * (1.0 + x * x)); }
inline StartedDiffusion multiplicative_p() {
  return started(
      on_line([](double, double x) {
        return -x - ((1.0 - multiplicative_variance(x)) * (-2.0 * x) - multiplicative_slope(x));
      }),
      DiagonalNoise{on_line([](double, double x) { return multiplicative_variance(x); }),
                    on_line([](double, double x) { return multiplicative_slope(x); })},
      Eigen::VectorXd::Zero(1), 0.5);
}
inline StartedDiffusion multiplicative_q() { return ornstein_uhlenbeck(1.0, 0.0, 1.0, 0.0, 0.5); }

/// f = x^4/4 - x^2/2 + (y - x/2)^2 - tilt_x x - tilt_y y, Sigma = 0.5 I, from N((0.3, 0), 0.2 I).
inline StartedDiffusion double_well_2d(double tilt_x, double tilt_y) {
  return started(on_plane([=](double, double x, double y) {
                   return std::pair(x - x * x * x + (y - 0.5 * x) + tilt_x,
                                    -2.0 * (y - 0.5 * x) + tilt_y);
                 }),
                 Covariance(Isotropic{0.5, 2}), Eigen::Vector2d(0.3, 0.0), 0.2);
}

}  // namespace sfumato::testing
