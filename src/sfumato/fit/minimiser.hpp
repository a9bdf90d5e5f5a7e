#pragma once

#include <Eigen/Core>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"

namespace sfumato {

/// The minimiser of  (1/N) sum_i w_i l(z_i . u) + (ridge/2) |u|^2  for rows of norm at most `row_bound`: longer ones get the weight
/// w_i = row_bound / |z_i|. l is logistic, or of a quantity Huber's loss, whose slope ends at `threshold`.
struct BoundedLoss {
  FitModel model;    ///< ridge or logistic
  double threshold;  ///< of Huber's loss; of the logistic one 1
  double row_bound;
  double ridge;
  double rows;       ///< N, by which the sum is divided
  double most_rows;  ///< that there can be

  /// No record's gradient is longer.
  [[nodiscard]] double gradient_bound() const { return row_bound * threshold; }
  /// How far a computed gradient may be off.
  [[nodiscard]] double rounding(double dim) const;
};

/// By damped Newton steps, until the computed gradient and its rounding are below `tolerance`.
/// Throws   NumericalFailure if that is not reached: no answer may depend on the data unless it is paid for, so nothing is released then.
[[nodiscard]] Eigen::VectorXd minimise(const RowMajor& z, const Eigen::VectorXd& target,
                                       const BoundedLoss& loss, double tolerance,
                                       Observer& observer);

/// How far the minimiser u moves without each row, by one Newton step of the loss without it: right to first order in 1/N, and of squares exactly.
[[nodiscard]] Eigen::VectorXd shifts_without_rows(const RowMajor& z, const Eigen::VectorXd& target,
                                                  const BoundedLoss& loss,
                                                  const Eigen::VectorXd& u);

}  // namespace sfumato
