#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "sfumato/math/covariance.hpp"
#include "sfumato/math/interval.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

struct DriftFormulas;

/// Many points side by side: row j is point j, column i is coordinate i, so that one coordinate of
/// all points is contiguous in memory.
using Points = Eigen::ArrayXXd;
using ConstPoints = Eigen::Ref<const Eigen::ArrayXXd>;
using MutablePoints = Eigen::Ref<Eigen::ArrayXXd>;

/// A vector field at many points at once: row j of `out` is its value at row j of `at`; both have
/// the same shape and do not overlap. Pure, and called from several threads.
using Field = std::function<void(double time, const ConstPoints& at, MutablePoints out)>;

/// Sigma(x) = diag(variances(x)); divergence_i = d Sigma_ii / d x_i.
struct DiagonalNoise {
  Field variances;
  Field divergence;
};

/// Any Sigma(x), one point at a time; divergence_i = sum_j d Sigma_ij / d x_j (Spec §6.1).
struct MatrixNoise {
  std::function<Eigen::MatrixXd(double time, const Eigen::VectorXd& at)> covariance;
  std::function<Eigen::VectorXd(double time, const Eigen::VectorXd& at)> divergence;
};

/// The diffusion covariance Sigma: constant, or a function of the state.
using Noise = std::variant<Covariance, DiagonalNoise, MatrixNoise>;

/// lower_ij <= d b_i / d x_j <= upper_ij for all x and all times; entries may be infinite.
struct JacobianBox {
  Eigen::MatrixXd lower;
  Eigen::MatrixXd upper;
};

/// A stochastic differential equation  dX = b(t, X) dt + Sigma(t, X)^{1/2} dW  (Spec §1.1).
struct Diffusion {
  Eigen::Index dimension;
  Field drift;
  Noise noise;
  /// A proven kappa with  <b(x) - b(y), S^{-1} (x - y)> <= -kappa |S^{-1/2} (x - y)|^2  for all
  /// x, y and times, S being the given positive definite matrix (Spec §6.3); it may be negative.
  /// Empty when nothing is proven.
  std::function<double(const Covariance& metric)> contraction = {};
  /// Drift and noise are known not to depend on the time, so that what was computed once on fixed
  /// points can be kept. False only costs time.
  bool autonomous = false;
  /// What is proven of the drift's Jacobian; empty when nothing is.
  std::optional<JacobianBox> jacobian = {};
  /// The formulas of the drift where it has some, for what is derived of two drifts together.
  std::shared_ptr<const DriftFormulas> formulas = {};
};

/// A diffusion, and its distribution at the time where it begins.
struct StartedDiffusion {
  Diffusion diffusion;
  GaussianDistribution start;
};

/// The constant Sigma of a diffusion; nullptr when it depends on the state.
[[nodiscard]] inline const Covariance* constant_noise(const Diffusion& diffusion) {
  return std::get_if<Covariance>(&diffusion.noise);
}

}  // namespace sfumato
