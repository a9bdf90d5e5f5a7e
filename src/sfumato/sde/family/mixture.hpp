#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// sum_k weights_k N(mean_k, covariance_k).
struct GaussianMixture {
  std::vector<double> weights;  ///< positive; they are divided by their sum
  std::vector<GaussianDistribution> components;
};

/// Those of f = -variance/2 log(mixture) + ridge/2 |x|^2, where all components have the same
/// covariance C; empty otherwise, where no such kappa is known.
///
/// With y = C^{-1/2} x the Hessian of -log(mixture) is I - Cov(m_k) under the weights of the
/// components at y, and the variance of m_k along any direction is at most D^2/4, D being the largest
/// distance between two means in these coordinates (Popoviciu).
[[nodiscard]] std::optional<HessianBounds> mixture_hessian_bounds(const GaussianMixture& mixture,
                                                                  double variance, double ridge);

/// dX = -grad f(X) dt + sqrt(variance) dW  with  f = -variance/2 log(mixture) + ridge/2 |x|^2.
///
/// The invariant distribution exp(-2 f/variance) (Spec §7.1) is the mixture itself when ridge = 0, and
/// the mixture times exp(-ridge |x|^2/variance) otherwise. The contraction constant follows from
/// mixture_hessian_bounds where those are known.
///
/// Throws   InvalidArgument if there are no components, numbers of weights and components or their
///          dimensions differ, a weight or the variance is not positive, the ridge is negative, or a
///          component's covariance is not valid; NumericalFailure if it is singular.
[[nodiscard]] Diffusion mixture_diffusion(const GaussianMixture& mixture, double variance,
                                          double ridge = 0.0);

}  // namespace sfumato
