#pragma once

#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// Equal steps of a ledger: each samples a record with probability q and adds normal noise to what the
/// sample contributes. The pair of its outputs that is hardest to hide is, z being standard normal under
/// the density without the record and m = 1 / noise multiplier (Spec §17.2),
///
///   r(z) = (1 - q) + q e^{m z - m^2/2},   remove: (r, 1),   add: (1, r),   replace: (r(z), r(-z))
struct SampledGaussian {
  double q;  ///< sampling rate, in (0, 1)
  double m;  ///< largest contribution of a record in standard deviations of the noise, > 0
  double k;  ///< steps, a whole number >= 1
  StepDirection direction = StepDirection::remove;

  void require_valid() const;
  [[nodiscard]] double highest_loss() const;
  [[nodiscard]] SampledGaussian exchanged() const;
  [[nodiscard]] StepKind kind() const { return {direction, 1.0}; }
  [[nodiscard]] Signals signals() const { return {q, m}; }
  void set_signals(Signals to) { q = to.first, m = to.second; }
  [[nodiscard]] double expected_sampled() const { return k * q; }
  [[nodiscard]] std::optional<Contribution> contribution() const;
  [[nodiscard]] BoundedStep<SampledGaussian> bounded() const;
  [[nodiscard]] double steepest() const;
  [[nodiscard]] std::optional<RatioStep> as_ratio() const;
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double s0, double reach) const;
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                            double enough) const;
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double eps) const;
};

}  // namespace sfumato
