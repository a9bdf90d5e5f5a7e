#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// A stretch of time covered by equal steps.
struct TimePanel {
  double begin;
  double end;
  Eigen::Index steps;

  [[nodiscard]] double step() const { return (end - begin) / static_cast<double>(steps); }
  /// The time after `k` steps; exactly `end` after the last.
  [[nodiscard]] double after(Eigen::Index k) const {
    return k == steps ? end : begin + static_cast<double>(k) * step();
  }
};

/// How time is cut: panels that double in length from `first` up to `longest`, each with `steps`
/// steps. A relaxation at any rate slower than 1 / first is then resolved equally well, at a cost that
/// grows with the logarithm of the time.
struct TimeGrading {
  double first;
  double longest;
  Eigen::Index steps;
};

/// Panels from `begin` to the last of `times`, cut at every one of them; a cut panel gets its share of
/// the steps, at least one.
///
/// Assumes  times ascending and >= begin; first > 0, longest >= first.
[[nodiscard]] std::vector<TimePanel> time_plan(double begin, const std::vector<double>& times,
                                               const TimeGrading& grading);

/// A quarter of the time in which drift and noise change the start noticeably:
///   1/4 / max_k ( Sigma_kk / V_kk + |b_k| / sd_k + |d b_k / d x_k| )   at the start's mean.
///
/// Throws  InvalidArgument if a variance of the start is zero, or as sample().
[[nodiscard]] double first_panel(const Diffusion& diffusion, const GaussianDistribution& start,
                                 double time);

}  // namespace sfumato
