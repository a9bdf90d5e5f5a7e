#pragma once

#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// Steps that sample a fixed number of the records, one of which is replaced (Spec §17.3). With r of SampledGaussian, the loss is
/// log r or -log r with z > m/2, and 0 with probability (1 - q)(2 Phi(m/2) - 1). The pair is its own exchange.
struct TwoSidedGaussian {
  double q;  ///< batch size / records, in (0, 1)
  double m;  ///< 2 / noise multiplier: the distance of two records
  double k;

  void require_valid() const;
  [[nodiscard]] double highest_loss() const;
  [[nodiscard]] TwoSidedGaussian exchanged() const { return *this; }
  [[nodiscard]] StepKind kind() const { return {StepDirection::remove, 1.0}; }
  [[nodiscard]] Signals signals() const { return {q, m}; }
  void set_signals(Signals to) { q = to.first, m = to.second; }
  [[nodiscard]] double expected_sampled() const;
  [[nodiscard]] std::optional<Contribution> contribution() const;
  [[nodiscard]] BoundedStep<TwoSidedGaussian> bounded() const;
  [[nodiscard]] double steepest() const { return m; }
  [[nodiscard]] std::optional<RatioStep> as_ratio() const { return std::nullopt; }
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double s0, double reach) const;
  /// The loss is 0 with probability a0 and has a density f with f(l) = 0 beyond its tails otherwise. With the tilt,
  ///
  ///   |M(s0 + iy)| <= a0 + (f(0-) + f(0+) + variation of f) / y,
  ///
  /// and f has at most two peaks on either side: log f is -(z + m)^2 / 2 + p log r(z) up to a constant, p = 2 + s0 or 1 - s0, whose
  /// slope is a logistic curve less a line and vanishes at most three times. From far out that is enough; nearer to the axis |M| is
  /// computed along the line, in steps within which it cannot rise above the bound, since |dM/dy| <= E |L| e^{s0 L} (Spec §18.3).
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                            double enough) const;
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double) const { return std::nullopt; }
};

}  // namespace sfumato
