#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/metric.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/random/release_bits.hpp"
#include "sfumato/report/sentence.hpp"

namespace sfumato {

/// The part of each fitted row of this table in what was released, against its absence: mu^2 of Gaussian privacy, summed over the releases. Computed from
/// the table without noise: a secret of whoever holds the table, no part of the guarantee (Spec §25.1).
struct RowExposure {
  Eigen::VectorXd mu_squared;
  /// The released distribution is normal and its means are known with and without the row; else the numbers hold along the path that was taken.
  bool exact = true;
};

/// Adds sum x x^T with noise of that deviation on the diagonal: |x|^4 / noise_std^2 for each row (Spec §22.2).
void expose_moments(const RowMajor& rows, double noise_std, RowExposure* exposure);

/// Adds every round of the metric: rows in the metric before it, shortened as they were.
void expose_metric(const RowMajor& features, const std::vector<MomentsRelease>& rounds,
                   RowExposure* exposure);

/// Adds the steps of a descent: squared norms of the clipped gradients at the iterates, in deviations of the noise.
void expose_descent(const DescentRows& rows, const DescentPlan& plan,
                    const std::vector<ReleasedStep>& steps, RowExposure* exposure);

/// A fit that may be published, and what may be said of it.
struct PrivateFit {
  PublicTable table;           ///< as it was declared, ranges narrowed if they were released
  Eigen::MatrixXd parameters;  ///< for the scaled features, a column for each output
  std::optional<ReleasedMetric> metric = {};
  double clip = 0.0;  ///< of each record's gradient, in the coordinates of the descent
  /// sum 4 p (1 - p) z z^T at the released parameters, in the coordinates of the descent (intervals of a logistic regression).
  std::optional<NoisyMoments> curvature = {};
  std::optional<HeldOut> held_out = {};
  /// Covariance of the parameters, noise and sampling together, where an interval can be trusted; else the reason.
  std::optional<Eigen::MatrixXd> covariance = {};
  Text no_intervals = {};                    ///< why there are none
  std::optional<RowExposure> exposure = {};  ///< where it was asked for; not for publication
};

/// The private rows under these bounds.
using RowSource = std::function<BoundedRows(const PublicTable&)>;

/// Further wishes to a fit.
struct FitRun {
  bool expose_rows = false;
  /// One of several fits: the coins that part the rows come from this key, and none is evaluated by itself.
  const ReleaseKey* candidate_of = nullptr;
};

/// Makes the fit that was planned. Reads of the table what the plan says and nothing else.
/// Stops    by throwing Stopped.
/// Throws   InvalidArgument if no grid fits; NumericalFailure as minimise().
[[nodiscard]] PrivateFit private_fit(const RowSource& source, const PublicTable& table,
                                     const FitPlan& plan, const ReleaseKey& key, Observer& observer,
                                     const FitRun& run = {});

/// Evaluates a fit on rows that it did not see, at a cost of `mu` for those.
[[nodiscard]] HeldOut evaluate_fit(const BoundedRows& held_out, const FitPlan& plan, double mu,
                                   const PrivateFit& fit, ReleaseBits& bits);

/// The descent of a plan, in the coordinates of its metric.
[[nodiscard]] DescentPlan descent_of(const FitPlan& plan, double clip);

/// The rows of which a coin of probability `share` came up, or did not: a coin for each position, whatever the row holds (Spec §21.4).
struct RowParts {
  BoundedRows fitted, held_out;
};
[[nodiscard]] RowParts split_rows(const BoundedRows& rows, double share, ReleaseBits& bits);

}  // namespace sfumato
