#pragma once

#include <Eigen/Core>

#include "sfumato/sde/fokker_planck/grid.hpp"
#include "sfumato/sde/fokker_planck/operator.hpp"

namespace sfumato {

/// Below this a density on a grid counts as zero where its logarithm is taken (Spec §12.3).
inline constexpr double kDensityFloor = 1e-250;

/// What the two densities of one direction say, all estimates of second order in the cell width.
struct DirectedEntropy {
  double kl;      ///< KL(p || q) in nats
  double rate;    ///< its time derivative, by the identity of Spec §6.1
  double primal;  ///< (1/2) E_p |Sigma^{-1/2} Phi|^2 >= rate
  double dual;    ///< (1/2) E_p |Sigma'^{-1/2} Psi|^2 >= rate
};
struct GridEntropy {
  DirectedEntropy forward;  ///< KL(p || q)
  DirectedEntropy reverse;  ///< KL(q || p): all roles exchanged
};

/// Relative entropies of two grid densities and their rates of change under two diffusions.
///
///   Spec §6.1, axis by axis (the noises are diagonal), with scores by differences of log densities
///   at the faces and E_p by the mean of the two neighbouring cells:
///   Phi = (1/2)(Sigma' - Sigma) grad log q - (h' - h),  Psi the same with grad log p,
///   d/dt KL(p||q) = E_p <Phi, G> - (1/2) E_p |Sigma^{1/2} G|^2,   G = grad log(p / q).
///
/// The reverse direction needs no new terms: its Phi is -Psi and its Psi is -Phi.
/// Cells and faces where a density is below kDensityFloor are left out.
///
/// Assumes  both densities have mass 1 on the grid, and the coefficients belong to the same time.
/// Edges    p = q gives entropies of exactly 0.
/// Throws   NumericalFailure if a distribution has more than 1e-12 of its mass where the other is below
///          kDensityFloor: the entropy is then decided by numbers that the grid cannot hold.
[[nodiscard]] GridEntropy grid_entropy(const Grid& grid, const Eigen::ArrayXd& p,
                                       const Coefficients& p_coefficients, const Eigen::ArrayXd& q,
                                       const Coefficients& q_coefficients);

/// The hockey-stick divergence  integral (p - e^epsilon q)_+; epsilon = 0 gives the total variation,
/// which is the largest advantage. epsilon may be negative.
///
/// p - e^epsilon q is taken as linear between cell centres along the last axis: where it changes sign
/// within a cell no longer matters to second order, so that the result can be extrapolated.
[[nodiscard]] double grid_hockey_stick(const Grid& grid, const Eigen::ArrayXd& p,
                                       const Eigen::ArrayXd& q, double epsilon);

}  // namespace sfumato
