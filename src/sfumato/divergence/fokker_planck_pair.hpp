#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/sde/fokker_planck/domain.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"

namespace sfumato {

/// An extrapolated number, and how much the last extrapolation changed it: a cautious measure of its
/// error, not a bound. Where the coarsest grid does not resolve the drift (cell_peclet_number above 1)
/// the error is all that extrapolation has changed.
struct GridEstimate {
  double value = 0.0;
  double error = 0.0;
};

/// For reports: claimed as an estimate, with the error among the assumptions.
[[nodiscard]] Claimed<Nats> claimed_entropy(const GridEstimate& estimate);

/// KL(p_t || q_t) and what bounds it (Spec §6.1); the bounds contain the KL of the starts.
struct PairDirection {
  GridEstimate kl;
  GridEstimate rate;                 ///< d/dt KL
  GridEstimate primal_rate;          ///< (1/2) E_p |Sigma^{-1/2} Phi|^2
  GridEstimate dual_rate;            ///< (1/2) E_p |Sigma'^{-1/2} Psi|^2
  GridEstimate primal_bound;         ///< KL of the starts + time integral of primal_rate
  GridEstimate dual_bound;           ///< the same of dual_rate
  GridEstimate minimum_bound;        ///< the same of the smaller of the two rates at every time
  std::vector<GridEstimate> deltas;  ///< hockey-stick divergence, one per epsilon asked for
};

struct PairAtTime {
  double time;
  PairDirection forward;  ///< of p from q
  PairDirection reverse;  ///< of q from p
  GridEstimate total_variation;
  Eigen::ArrayXd p;  ///< densities on PairSolution::grid if they were asked for, else empty
  Eigen::ArrayXd q;
};

struct FokkerPlanckOptions {
  /// Of the finest grid, a multiple of 2^(levels - 1). 0 chooses what the starts and the drift need:
  /// 1200 to 6000 in one dimension, 160 to 400 in two.
  Eigen::Index cells_per_axis = 0;
  /// Steps of the finest run in each of the time panels (time_plan.hpp), a multiple of
  /// 2^(levels - 1); 0 chooses max(64, cells_per_axis / 4), so that dt shrinks with dx.
  Eigen::Index steps_per_panel = 0;
  /// Runs, each with half the cells per axis and steps of the one before; 2 or 3.
  int levels = 3;
  /// Where the distributions live; found by trial runs when empty. With a constant Sigma that is not diagonal
  /// the grid covers the image of this box.
  std::vector<Interval> domain = {};
  /// Largest mass in the outermost fiftieth at the ends.
  double boundary_tolerance = 1e-8;
  /// No time panel is longer. When empty: unlimited, except in two dimensions (splitting) and where
  /// coefficients depend on time: then 16 times the first panel.
  std::optional<double> longest_panel = {};
  /// When the starts hold; the times asked for are counted on the same clock.
  double begin = 0.0;
  std::vector<double> epsilons = {};
  bool keep_densities = false;
  int threads = 2;  ///< 1 or 2 (one for each distribution); the numbers are the same
};

struct PairSolution {
  Grid grid;                     ///< the finest, in the coordinates `to_grid` x
  Eigen::MatrixXd to_grid;       ///< the identity unless a constant Sigma is not diagonal
  std::vector<PairAtTime> rows;  ///< one per time; fewer if stopped
  double boundary_mass;          ///< the largest found, of either distribution on the finest grid
  double mass_error;             ///< the largest |mass - 1| found
  double peclet_number;          ///< of the coarsest grid, the largest found (cell_peclet_number)
  Eigen::Index steps;            ///< of the finest run
  bool stopped;                  ///< by the observer
};

/// Relative entropies of two diffusions over time, by the Fokker-Planck equations of both on one grid
/// (Spec §12.3, §12.4), one or two dimensions.
///
/// Every number is computed with positive densities on `levels` grids, cells and time steps halved
/// together, and extrapolated: a single run is first order in dt and second in dx, two levels leave
/// second order, three leave third. All results are estimates. Work grows as cells^2 in one dimension
/// and as the 3/2 power of the number of cells in two.
///
/// Assumes  coefficients that are smooth in space, and in time between the `times` (give the jumps of
///          a schedule as times).
/// Edges    a time equal to `begin` reports the starts. Starts may differ.
/// Throws   InvalidArgument for unusable options, sizes, coefficients, or starts narrower than a
///          cell of the coarsest grid; NumericalFailure if the mass near the ends of the domain
///          exceeds boundary_tolerance (with the mass found) or the distributions are too far apart.
[[nodiscard]] PairSolution solve_fokker_planck_pair(const StartedDiffusion& p,
                                                    const StartedDiffusion& q,
                                                    const std::vector<double>& times,
                                                    const FokkerPlanckOptions& options = {},
                                                    Observer* observer = nullptr);

}  // namespace sfumato
