#pragma once

#include <Eigen/Core>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/math/covariance.hpp"

namespace sfumato::apps {

/// The paper's route from concentration of log(p/q) to delta, for comparison with the paper only:
/// where it says anything, the exact delta of the same pair is at most half of it and often far
/// less (mean difference 1, variance 1, epsilon 1: 0.8825 against 0.1269).
///
/// Both bound delta_{p,q}(eps) for p = N(m, V), q = N(m + mean_difference, V) with one V, through
///
///   Spec §4.4:   delta(KL + r) <= exp(-r^2 / (C Lip^2)),   r >= 0,   KL = D^T V^{-1} D / 2
///
/// Assumes  equal covariances: with V != V', log(p/q) is quadratic and not Lipschitz.
/// Edges    epsilon <= KL gives 1 (the route says nothing there); D = 0 and epsilon > 0 gives 0.
/// Throws   InvalidArgument if the sizes differ or an entry of the difference is not finite;
///          NumericalFailure if the covariance is singular.

/// As printed: Lip = |V^{-1} D| and C = 2 lam_max(V).
[[nodiscard]] Claimed<Delta> delta_from_concentration_as_printed(
    const Eigen::VectorXd& mean_difference, const Covariance& covariance, Epsilon epsilon);

/// In whitened coordinates, never larger: exp(-r^2 / (2 D^T V^{-1} D)).
[[nodiscard]] Claimed<Delta> delta_from_concentration_whitened(
    const Eigen::VectorXd& mean_difference, const Covariance& covariance, Epsilon epsilon);

}  // namespace sfumato::apps
