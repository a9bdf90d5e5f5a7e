#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "sfumato/sde/fokker_planck/grid.hpp"
#include "sfumato/sde/fokker_planck/operator.hpp"
#include "sfumato/sde/fokker_planck/scheme.hpp"

namespace sfumato {

/// The density of one diffusion on a grid, moved forward in time (Spec §12.3, §12.4).
///
/// Finite volumes in space; implicit Euler in time, one axis after the other (Lie splitting in two
/// dimensions), so first order in time with an expansion in powers of the step: extrapolate
/// functionals over step sizes. No mass crosses the ends. Densities stay >= 0 for every step.
/// Coefficients are sampled at the end of each step, and factored again only when they or the step
/// have changed; a diffusion that does not depend on time is thus factored once per step size.
class FokkerPlanckSolver {
 public:
  /// `density` has one value per cell and mass 1, `time` is when.
  ///
  /// Throws  InvalidArgument as FaceSampler, or if `density` has the wrong size.
  FokkerPlanckSolver(const Diffusion& diffusion, const Grid& grid, Eigen::ArrayXd density,
                     double time);

  /// One step of length `dt` > 0, which ends at `until` (given, so that output times are exact).
  ///
  /// Throws  InvalidArgument as FaceSampler::at.
  void step(double dt, double until);

  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] const Eigen::ArrayXd& density() const { return density_; }
  /// At time(); shared by all times between which nothing changed.
  [[nodiscard]] const std::shared_ptr<const Coefficients>& coefficients() const {
    return coefficients_;
  }

 private:
  void factor(double dt);

  Grid grid_;
  FaceSampler sampler_;
  Eigen::ArrayXd density_;
  Eigen::ArrayXd
      turned_;  ///< the transposed density: the last axis is swept with its lines fastest
  double time_;
  double factored_dt_ = 0.0;
  std::shared_ptr<const Coefficients> coefficients_;
  std::vector<ImplicitEuler> axes_;
};

}  // namespace sfumato
