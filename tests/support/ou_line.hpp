#pragma once

#include <cmath>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/linear_drift.hpp"

/// Ornstein-Uhlenbeck processes on the line, whose Euler chains are known exactly.
namespace sfumato::testing {

struct OuLine {
  double rate, target, variance;

  [[nodiscard]] Diffusion diffusion() const {
    return {1,
            linear_drift(Eigen::MatrixXd::Constant(1, 1, rate),
                         Eigen::VectorXd::Constant(1, rate * target)),
            Isotropic{variance, 1}};
  }
};

struct LineDistribution {
  double mean, variance;
  [[nodiscard]] GaussianDistribution distribution() const {
    return {Eigen::VectorXd::Constant(1, mean), Isotropic{variance, 1}};
  }
};

/// One Euler step of length h.
inline LineDistribution step(const OuLine& x, const LineDistribution& at, double h) {
  const double m = 1.0 - x.rate * h;
  return {m * at.mean + h * x.rate * x.target, m * m * at.variance + h * x.variance};
}

/// The mean of I of Spec §12.1 over the Euler chain of p, for q with the same noise.
inline double chain_path_kl(const OuLine& p, const OuLine& q, LineDistribution at, double h,
                            int steps) {
  const double slope = q.rate - p.rate, offset = p.rate * p.target - q.rate * q.target;
  double sum = 0.0;
  for (int k = 0; k < steps; ++k) {
    const double mean = slope * at.mean + offset;
    sum += 0.5 * h * (mean * mean + slope * slope * at.variance) / p.variance;
    at = step(p, at, h);
  }
  return sum;
}

}  // namespace sfumato::testing
