#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// What was learnt of the metric, all of it public.
struct ReleasedMetric {
  Eigen::MatrixXd moments;      ///< sum x x^T, noisy, as released
  double noise_std;             ///< on its diagonal
  Eigen::VectorXd eigenvalues;  ///< of moments / N, negative ones as 0, rising
  Eigen::MatrixXd vectors;      ///< by columns
  double ridge;                 ///< lambda: P^{-1} = V (eigenvalues + lambda) V^T
  double effective_dim;

  /// P^{1/2}: rows x become z = root x, and parameters u become root^T u.
  [[nodiscard]] Eigen::MatrixXd root() const;
};

/// Rows in its coordinates, each by the same operations wherever it stands.
[[nodiscard]] RowMajor in_metric(const RowMajor& x, const Eigen::MatrixXd& root);

/// Splits released moments into a metric: post-processing (Spec §22.4, step 2).
[[nodiscard]] ReleasedMetric metric_of(const Eigen::MatrixXd& moments, double noise_std,
                                       double rows, double metric_ridge);

/// A fit that may be published, and what may be said of it.
struct PrivateFit {
  PublicTable table;           ///< as it was declared, ranges narrowed if they were released
  Eigen::MatrixXd parameters;  ///< for the scaled features, a column for each output
  std::optional<ReleasedMetric> metric = {};
  double clip = 0.0;  ///< of each record's gradient, in the coordinates of the descent
  std::optional<HeldOut> held_out = {};
  /// Of the parameters, noise and sampling together, where an interval can be trusted; else the reason.
  std::optional<Eigen::MatrixXd> covariance = {};
  std::string no_intervals = {};
};

/// The private rows under these bounds.
using RowSource = std::function<BoundedRows(const PublicTable&)>;

/// Makes the fit that was planned. Reads of the table what the plan says and nothing else.
/// Stops    by throwing Stopped.
/// Throws   InvalidArgument if no grid fits; NumericalFailure as minimise().
[[nodiscard]] PrivateFit private_fit(const RowSource& source, const PublicTable& table,
                                     const FitPlan& plan, const ReleaseKey& key,
                                     Observer& observer);

/// Bits of one key for each of the releases.
enum class FitStream : std::uint64_t {
  parts = 1,
  moments = 2,
  steps = 3,
  held_out = 4,
  ranges = 5
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
