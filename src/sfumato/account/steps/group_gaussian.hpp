#pragma once

#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// SampledGaussian for a group of records that is removed or added together, each sampled by itself (Spec §19.5):
///
///   r_g(z) = sum_j binom(g, j) q^j (1 - q)^{g-j} e^{j m z - j^2 m^2/2},   remove: (r_g, 1),   add: (1, r_g)
struct GroupGaussian {
  double q;
  double m;  ///< of one record
  int g;     ///< records of the group, >= 1
  double k;
  StepDirection direction = StepDirection::remove;  ///< not `replace`

  void require_valid() const;
  [[nodiscard]] double highest_loss() const;
  [[nodiscard]] GroupGaussian exchanged() const;
  [[nodiscard]] StepKind kind() const { return {direction, static_cast<double>(g)}; }
  [[nodiscard]] Signals signals() const { return {q, m}; }
  void set_signals(Signals to) { q = to.first, m = to.second; }
  [[nodiscard]] double expected_sampled() const { return k * g * q; }
  [[nodiscard]] std::optional<Contribution> contribution() const;
  [[nodiscard]] BoundedStep<GroupGaussian> bounded() const;
  [[nodiscard]] double steepest() const { return g * m; }
  [[nodiscard]] std::optional<RatioStep> as_ratio() const;
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double s0, double reach) const;
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                            double enough) const;
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double) const { return std::nullopt; }
};

}  // namespace sfumato
