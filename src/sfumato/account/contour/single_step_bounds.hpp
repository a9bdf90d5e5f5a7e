#pragma once

#include <vector>

#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/account/lattice/loss_distribution.hpp"

namespace sfumato {

/// Bounds of delta of all steps by what single ones say (Spec §18.9): little where there are many sampled steps, and nearly everything where one is rare.
class SingleStepBounds {
 public:
  /// For a loss without failure and shift.
  explicit SingleStepBounds(const TotalLoss& loss);

  /// log of the sum of the steps' delta(0), which total variation adds up to at most: delta(eps) is not above it for eps >= 0.
  [[nodiscard]] double log_variation() const { return log_variation_; }

  /// log of P(A) - e^eps Q(A), at least, for the best of the events A that some step's loss exceeds a threshold; -inf where none is positive.
  [[nodiscard]] double log_some_sampled(double eps) const;

  /// An eps at which log_some_sampled() is still above log_target, about the largest; 0 where there is none.
  [[nodiscard]] double eps_of(double log_target) const;
  /// About the threshold that some step's loss exceeds with the probability `fpr` under Q; 0 where there is none.
  [[nodiscard]] double threshold_of(double fpr) const;

 private:
  struct Steps {
    LossDistribution distribution;
    double count;
  };
  std::vector<Steps> steps_;
  double log_variation_;
};

}  // namespace sfumato
