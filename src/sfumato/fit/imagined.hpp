#pragma once

#include <Eigen/Core>

#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/prediction.hpp"

namespace sfumato {

/// Second derivative of the loss in z.u, at a typical point: of squares 1, of a logistic loss p(1-p).
[[nodiscard]] double typical_curvature(FitModel model);
/// Its largest value (Spec §22.5).
[[nodiscard]] double largest_curvature(FitModel model);
/// What residuals are measured in: the bound of the target; of classes 1.
[[nodiscard]] double residual_scale(const PublicTable& table, FitModel model);

/// A problem as it is imagined before the data are seen: rows as long as they may be, eigenvalues like 1/j^2, a signal spread evenly.
/// Tables of measurements are steeper still (condition numbers of 50 to 1e6, docs/results/fit.md): where this says that shaping pays, it does.
struct ImaginedTable {
  Eigen::VectorXd eigenvalues;
  Eigen::VectorXd optimum;
  double variance;  ///< of the signal
};

[[nodiscard]] ImaginedTable imagined_table(const PublicTable& table, FitModel model, double bound);

/// The descent of a plan as the formulas of Spec §22.4 take it.
[[nodiscard]] DescentShape imagined_descent(const PublicTable& table, const FitPlan& plan,
                                            const ImaginedTable& imagined);

}  // namespace sfumato
