#pragma once

#include <Eigen/Core>
#include <optional>

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/sde/contraction.hpp"

namespace sfumato {

/// Bounds for Langevin diffusions dX = -grad f(X) dt + sigma dW from a few constants of f and f'
/// (Spec §7). Every function throws InvalidArgument, naming it, for a constant that is negative,
/// NaN or out of order; times may be +inf.

/// What the bounds know of a pair.
struct LangevinConstants {
  HessianBounds f;            ///< of the first potential; 0 <= kappa <= L, finite
  HessianBounds f_prime;      ///< of the second
  double variance;            ///< sigma^2 > 0 of the first process
  double variance_prime;      ///< sigma'^2 > 0 of the second
  Eigen::Index dimension;     ///< d >= 1
  double minimiser_distance;  ///< Delta = |x* - x'*|
  double start_distance;      ///< u_0 = E|x_0 - x*|^2 of the common start; finite
  /// G_* = |grad f'(x*)| where it is known; L' Delta otherwise.
  std::optional<double> gradient_at_minimiser = {};
  /// A Lipschitz constant of grad(f - f'), where one better than Spec §7.4 (1) is known. Only used
  /// for equal variances.
  std::optional<double> gap_lipschitz = {};
};

/// C_t with Ent(g^2) <= C_t E|grad g|^2 for the distribution at `time` of a flow whose start has constant
/// C_0 and whose drift contracts at rate kappa (Spec §7.2 (2)); `variance` is sigma^2, or
/// lam_max(Sigma).
///
/// Edges    kappa = 0 gives 2 sigma^2 t + C_0 (+inf at t = inf); t = inf gives sigma^2/kappa.
[[nodiscard]] double lsi_constant(double variance, double kappa, double start_constant,
                                  double time);

/// An upper bound on E|x_t - x*|^2 (Spec §7.3 (1)); noise_trace = tr Sigma. Attained by the
/// quadratic with A = kappa I.
[[nodiscard]] double mean_square_distance_bound(double noise_trace, double kappa,
                                                double start_distance, double time);

/// KL(p_t || q_t) for equal variances and a common start, any start with u_0 < inf (Spec §7.4 (4)).
/// The quadrature is rounded up.
///
/// Edges    time = +inf gives the limit, infinite with the reason unless kappa' > 0 and (kappa > 0
///          or the gradients differ by a constant).
/// Throws   InvalidArgument also if the variances differ: use kl_bound_unequal.
[[nodiscard]] KlBound kl_bound_finite_time(const LangevinConstants& constants, double time);

/// The same for all times at once (Spec §7.4 (5)).
[[nodiscard]] KlBound kl_bound_uniform(const LangevinConstants& constants);

/// KL of the two invariant distributions, any variances (Spec §7.5 (2)); the start plays no part. Infinite,
/// with the reason, for kappa' = 0, and for kappa = 0 unless L_H = 0.
[[nodiscard]] KlBound kl_bound_stationary(const LangevinConstants& constants);

/// What is known of a start with a density.
struct SmoothStart {
  double fisher_information;  ///< J_0 = E|grad log p_0|^2; tr V_0^{-1} if normal, +inf for a point
  double lsi_constant;        ///< C_0; 2 lam_max(V_0) for a normal distribution
};

/// KL(p_t || q_t) for any variances and a common start with a density (Spec §7.6 (3)). Loose.
///
/// Edges    infinite, with the reason, for J_0 = inf and different variances, and at time = +inf as
///          kl_bound_finite_time.
[[nodiscard]] KlBound kl_bound_unequal(const LangevinConstants& constants, const SmoothStart& start,
                                       double time);

}  // namespace sfumato
