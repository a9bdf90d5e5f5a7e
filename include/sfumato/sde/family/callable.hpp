#pragma once

#include <Eigen/Core>
#include <functional>

#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

using PointDrift = std::function<Eigen::VectorXd(double time, const Eigen::VectorXd& at)>;
using PointCovariance = std::function<Eigen::MatrixXd(double time, const Eigen::VectorXd& at)>;

/// A diffusion from a drift that takes one point at a time; it must be pure. Nothing is known about
/// its contraction: set `contraction` of the result where a constant is proven.
///
/// Throws   InvalidArgument if the dimension is not positive, the drift is empty, or a constant noise
///          has another dimension or is no covariance matrix.
[[nodiscard]] Diffusion diffusion_from(Eigen::Index dimension, PointDrift drift, Noise noise);

/// The divergence of Sigma(x) by central differences, to be asked for by name because it is not
/// exact: its error is about step^2 |Sigma'''| / 6 + 1e-16 |Sigma| / step, with a step of
/// `relative_step` max(1, |x_j|) along coordinate j; the default balances the two for smooth Sigma.
/// Costs 2 d evaluations of Sigma.
[[nodiscard]] MatrixNoise with_numerical_divergence(PointCovariance covariance,
                                                    double relative_step = 6e-6);

}  // namespace sfumato
