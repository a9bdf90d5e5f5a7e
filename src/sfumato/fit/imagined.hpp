#pragma once

#include <Eigen/Core>

#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/prediction.hpp"

namespace sfumato {

/// Second derivative of the loss in z.u, at a typical point: of squares 1, of K classes 0.6 p (1 - p) at p = 1/K.
[[nodiscard]] double typical_curvature(const PublicTable& table, FitModel model);
/// Its largest value (Spec §22.5).
[[nodiscard]] double largest_curvature(FitModel model);
/// The scale of residuals: the bound of the target; of classes 1.
[[nodiscard]] double residual_scale(const PublicTable& table, FitModel model);

/// A problem as it is imagined before the data are seen (Spec §22.7): the intercept, levels that are equally frequent, numbers that fill a third of their
/// squared range with eigenvalues like 1/j^2, and a signal that follows the roots of the eigenvalues.
struct ImaginedTable {
  Eigen::VectorXd eigenvalues;  ///< of the loss, largest first
  Eigen::VectorXd optimum;
  double variance;    ///< of the signal
  double row_length;  ///< root of the mean square
};

[[nodiscard]] ImaginedTable imagined_table(const PublicTable& table, FitModel model, double bound);

/// The effect of clipping on a descent whose gradients have the imagined residuals (Spec §22.7).
struct ClippedDescent {
  double slower;  ///< of each step, this share is left
  double bias;    ///< of the variance of the signal, lost where residuals are skewed
};
/// `longer`: what rows are taken to be by the clip, over their length.
[[nodiscard]] ClippedDescent imagined_clipping(const PublicTable& table, FitModel model,
                                               double clip_factor, double longer = 1.0);

/// A descent as the formulas of Spec §22.4 take it, in the features as they are; without its clip.
[[nodiscard]] DescentShape imagined_descent(const FitPlan& plan, const PlannedDescent& descent);

/// Its loss, with what clipping does to it.
[[nodiscard]] double predicted_descent_loss(DescentShape shape, const ClippedDescent& clipped,
                                            const ImaginedTable& imagined);

}  // namespace sfumato
