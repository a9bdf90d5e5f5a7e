#pragma once

#include <string_view>

namespace sfumato {

/// A way to compute, bound or estimate the relative entropy of two stochastic differential equations.
enum class BoundMethod {
  exact,              ///< both distributions are normal (Spec §5)
  stationary,         ///< invariant densities by quadrature, block by block
  fokker_planck,      ///< densities on a grid (Spec §12.3, §12.4)
  primal,             ///< the paper's theorem, corrected (Spec §6.1)
  dual,               ///< its dual form
  minimum,            ///< the smaller rate of both at every time
  path,               ///< KL of the whole paths (Spec §6.2)
  contractive,        ///< the same with a weight that forgets the past (Spec §6.3)
  sensitivity,        ///< mu of a uniform sensitivity (Spec §6.4)
  constants,          ///< from kappa, L and the minimisers (Spec §7.4 to §7.6)
  constants_uniform,  ///< the same for all times at once
  matched,  ///< unequal noise made equal by a process with the same marginals (Spec §27.3)
  matched_constants,  ///< the same from what interval arithmetic proves of formulas (Spec §27.6)
  local,        ///< invariant distributions by the curvature near the minimiser (Spec §7.8, §7.9)
  primal_grid,  ///< on a grid: primal, dual, minimum, path
  dual_grid,
  minimum_grid,
  path_grid,
  path_simulated,  ///< by simulated paths: path, contractive (Spec §12.1)
  contractive_simulated,
  primal_particles,  ///< with scores of particles: primal, dual (Spec §12.2)
  dual_particles,
  matched_simulated,  ///< the matched process by simulated paths (Spec §27.7)
};

/// "fokker_planck", ...: how JSON names a method.
[[nodiscard]] std::string_view name(BoundMethod method);

/// For people: "Theorem 2.2, corrected". Numbers of theorems are those of the paper.
[[nodiscard]] std::string_view title(BoundMethod method);

}  // namespace sfumato
