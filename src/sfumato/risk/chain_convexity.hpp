#pragma once

#include "sfumato/divergence/convexity_bounds.hpp"

namespace sfumato {

/// The Lipschitz constant of x -> x - learning_rate grad f(x), kappa I <= Hess f <= L I, in the metric
/// of the noise (hessian_step_lipschitz), rounded up so that 1 - c is never too large.
[[nodiscard]] double proven_step_lipschitz(const HessianBounds& f, double learning_rate,
                                           const Covariance& metric);

/// KL of the last of `steps` iterates  x <- x - eta grad f(x) + N(0, eta sigma^2 I)  from those of f',
/// from the same constants as kl_bound_finite_time (its counterpart for the flow), any common start
/// with u_0 < inf.
///
///   c = max(|1 - eta kappa|, |1 - eta L|):   u_{j+1} <= c^2 u_j + d eta sigma^2
///   d_j <= sqrt(eta) (L_D sqrt(u_j) + G_*) / sigma
///   Spec §8.3 (1):   KL <= (1 + c')/(2 (1 + c'^k)) sum_j c'^{k-1-j} d_j^2,   c' of f'; also with 1
///
/// because grad f(x*) = 0 makes x* a fixed point of a c-Lipschitz step. Beyond 1,000 steps the sum is
/// taken over 1,000 panels, in each of which d_j, which is monotone in j, is replaced by its largest
/// value: still an upper bound.
///
/// Edges    steps = +inf gives the limit, infinite with the reason unless c' < 1 and (c < 1 or L_D =
///          0); the same for constants that overflow (c > 1 and many steps).
/// Throws   InvalidArgument if the variances differ, the learning rate is not positive, steps is not
///          a whole number >= 0 or +inf, or a constant is negative or NaN.
[[nodiscard]] KlBound kl_bound_chain(const LangevinConstants& constants, double learning_rate,
                                     double steps);

}  // namespace sfumato
