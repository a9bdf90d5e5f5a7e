#pragma once

#include <vector>

#include "sfumato/account/accountant/profile.hpp"

namespace sfumato {

/// delta(eps) of composed steps on a grid of thresholds from 0 up, the worse of all directions, for questions about the whole curve.
/// delta is convex in a = e^eps, so that chords of upper ends bound it between the nodes.
class ProfileCurve {
 public:
  struct Node {
    double eps, a;  ///< a = e^eps
    double lo, hi;  ///< of delta
  };
  struct Range {
    double step = 0.01;    ///< of eps; longer where the range asks for more than `most` nodes
    double least = 1e-12;  ///< up to where delta is at most that, or as near to it as it comes
    std::size_t most = 3000;
  };

  /// `losses` are the directions, each with its exchanged one among them.
  /// Throws   NumericalFailure if delta does not fall within 600 nats.
  ProfileCurve(const std::vector<TotalLoss>& losses, const Range& range);

  /// The larger of the directions.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Each direction by itself, at the same thresholds, in the order of the losses.
  [[nodiscard]] const std::vector<std::vector<Node>>& directions() const { return directions_; }

  /// At least delta at any threshold, by chords; 1 - e^eps + e^eps delta(-eps) below 0.
  [[nodiscard]] double delta_hi(double eps) const;
  /// At least the true-positive rate of any test with that false-positive rate: min over eps of delta + e^eps x (Spec §19.1).
  [[nodiscard]] double rate_hi(double x) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<Node>> directions_;
};

}  // namespace sfumato
