#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/exposure.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/metric.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// A fit that may be published, and what may be said of it.
struct PrivateFit {
  PublicTable table;           ///< as it was declared, ranges narrowed if they were released
  Eigen::MatrixXd parameters;  ///< for the scaled features, a column for each output
  std::optional<ReleasedMetric> metric = {};
  double clip = 0.0;  ///< of each record's gradient, in the coordinates of the descent
  /// sum 4 p (1 - p) z z^T at the released parameters, in the coordinates of the descent (intervals of a logistic regression).
  std::optional<NoisyMoments> curvature = {};
  std::optional<HeldOut> held_out = {};
  /// Of the parameters, noise and sampling together, where an interval can be trusted; else the reason.
  std::optional<Eigen::MatrixXd> covariance = {};
  std::string no_intervals = {};
  std::optional<RowExposure> exposure = {};  ///< where it was asked for; not for publication
};

/// The private rows under these bounds.
using RowSource = std::function<BoundedRows(const PublicTable&)>;

/// What else a fit is to do.
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

/// Bits of one key for each of the releases.
enum class FitStream : std::uint64_t {
  parts = 1,
  moments = 2,
  steps = 3,
  held_out = 4,
  ranges = 5,
  curvature = 6,
  selection = 7
};

/// The descent of a plan, in the coordinates of its metric.
[[nodiscard]] DescentPlan descent_of(const FitPlan& plan, double clip);
/// The clip of its gradients; `metric` where one was released.
[[nodiscard]] double clip_of(const FitPlan& plan, const PublicTable& table,
                             const ReleasedMetric* metric);

/// The rows of which a coin of probability `share` came up, or did not: a coin for each position, whatever the row holds (Spec §21.4).
struct RowParts {
  BoundedRows fitted, held_out;
};
[[nodiscard]] RowParts split_rows(const BoundedRows& rows, double share, ReleaseBits& bits);

}  // namespace sfumato
