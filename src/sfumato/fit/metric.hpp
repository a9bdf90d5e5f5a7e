#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// A metric as far as it was learnt, all of it public (Spec §22.4, steps 1 and 2). Rows x become z = root x, and parameters of z become root^T u.
struct ReleasedMetric {
  Eigen::MatrixXd moments;       ///< sum x x^T as the last release estimates it; not negative
  Eigen::MatrixXd root;          ///< P^{1/2}
  Eigen::MatrixXd inverse_root;  ///< P^{-1/2}
  Eigen::VectorXd reach;         ///< second moment of each coordinate of z, in [0, 1]: k_j
  Eigen::VectorXd noise_edge;    ///< how much of `reach` the noise of the release could be
  double effective_dim;          ///< sum of `reach`, at least 1

  /// The coordinates x themselves, of which nothing is known.
  [[nodiscard]] static ReleasedMetric of_features(Eigen::Index dim);
};

/// Rows in the metric, each by the same operations wherever it stands.
[[nodiscard]] RowMajor in_metric(const RowMajor& x, const Eigen::MatrixXd& root);

/// Rows no longer than `bound`: longer ones are shortened. Depends on the record alone.
void shorten_rows(double bound, RowMajor* rows);

/// A metric from moments that were released in the coordinates of an earlier one: post-processing. P^{-1} is the estimate, plus `metric_ridge` edges
/// of its noise, plus floor_per_dim x effective dimensions in every direction of x.
/// Throws   NumericalFailure if no eigenvalues are found.
[[nodiscard]] ReleasedMetric metric_of(const NoisyMoments& moments, const ReleasedMetric& base,
                                       double rows, double metric_ridge, double floor_per_dim);

/// Moments as they were released: of rows in `base`, no longer than `bound`.
struct MomentsRelease {
  ReleasedMetric base;
  double bound;
  NoisyMoments moments;
};

/// Releases the metric of a plan in its rounds: each shortens the rows to 1.5 sqrt(effective dimensions) in the metric before. The
/// noise shrinks with the rows, so that directions appear which the first round's noise hides.
[[nodiscard]] ReleasedMetric release_metric(const RowMajor& features, const PublicTable& table,
                                            const FitPlan& plan, ReleaseBits& bits,
                                            Observer& observer,
                                            std::vector<MomentsRelease>* trace = nullptr);

}  // namespace sfumato
