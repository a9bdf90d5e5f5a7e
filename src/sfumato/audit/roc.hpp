#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

/// One test "score >= threshold" of a ROC curve.
struct RocPoint {
  double threshold;
  std::uint64_t true_positives;
  std::uint64_t false_positives;
};

/// The ROC curve of members against non-members, described, not bounded: thresholds are scores of
/// the same sample, so no point of it is a test fixed beforehand.
class Roc {
 public:
  /// One point per distinct score, from the highest down, after a first point that takes nobody.
  /// Equal scores are one point.
  /// Throws   InvalidArgument as require_scores().
  explicit Roc(const ScoreSample& sample);

  [[nodiscard]] const std::vector<RocPoint>& points() const { return points_; }
  [[nodiscard]] std::uint64_t members() const { return members_; }
  [[nodiscard]] std::uint64_t non_members() const { return non_members_; }

  [[nodiscard]] double tpr(const RocPoint& point) const;
  [[nodiscard]] double fpr(const RocPoint& point) const;

  /// Area under the curve = P[member > non-member] + P[equal] / 2.
  [[nodiscard]] double auc() const;
  /// max (TPR - FPR), and where. Biased upwards: it is a maximum.
  [[nodiscard]] double advantage() const;
  [[nodiscard]] const RocPoint& best_point() const;

  /// The point with the most true positives among those with FPR <= `fpr`.
  /// Throws   InvalidArgument unless fpr is in [0, 1].
  [[nodiscard]] const RocPoint& point_at(double fpr) const;

  /// At most `count` points for a figure on log-log axes: evenly spaced in log FPR, ends included.
  [[nodiscard]] std::vector<RocPoint> thinned(std::size_t count) const;

 private:
  std::vector<RocPoint> points_;
  std::uint64_t members_ = 0;
  std::uint64_t non_members_ = 0;
};

/// Interval for the area under a ROC curve of independent scores: Newcombe's score method for
/// Hanley and McNeil's variance [Newcombe2006, method 5]. Approximate, but with sensible ends where the
/// usual normal intervals break down, at 0 and 1. Records scored on one model are not independent:
/// for them it describes these records on this model.
///
/// Throws   InvalidArgument if auc is not in [0, 1], a group is empty, or confidence is not in (0, 1).
[[nodiscard]] ProbabilityInterval auc_interval(double auc, std::uint64_t members,
                                               std::uint64_t non_members, double confidence);

}  // namespace sfumato
