#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/metric.hpp"

namespace sfumato {

/// What each fitted row of this table adds to what was released, against its absence: mu^2 of Gaussian privacy, summed over the releases. Computed from
/// the table without noise: a secret of whoever holds the table, no part of the guarantee (Spec §25.1).
struct RowExposure {
  Eigen::VectorXd mu_squared;
  /// The released law is normal and its means are known with and without the row; else the numbers hold along the path that was taken.
  bool exact = true;
};

/// Adds sum x x^T with noise of that deviation on the diagonal: |x|^4 / noise_std^2 for each row (Spec §22.2).
void expose_moments(const RowMajor& rows, double noise_std, RowExposure* exposure);

/// Adds every round of the metric: rows in the metric before it, shortened as they were.
void expose_metric(const RowMajor& features, const std::vector<MomentsRelease>& rounds,
                   RowExposure* exposure);

/// Adds the steps of a descent: squared norms of the clipped gradients at the iterates, in deviations of the noise.
void expose_descent(const RowMajor& z, const Eigen::VectorXd& target, FitModel model,
                    const DescentPlan& plan, const std::vector<ReleasedStep>& steps,
                    RowExposure* exposure);

}  // namespace sfumato
