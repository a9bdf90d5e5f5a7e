#pragma once

#include "sfumato/account/contour/allocation_moments.hpp"
#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// Epochs of random allocation: in each of them every record draws one of t batches by itself, and every batch, an empty one too, is
/// released with normal noise. With z_1..z_t standard normal under the density without the record the pair that dominates an epoch
/// has the likelihood ratio (Spec §28.2)
///
///   R = (e^{m z_1 - m^2/2} + ... + e^{m z_t - m^2/2}) / t
///
/// delta falls with t and grows with m. The loss is no function of one number, so that its transform comes from a contour of its own.
struct AllocatedGaussian {
  double t;  ///< batches of an epoch, a whole number >= 1
  double m;  ///< largest contribution of a record in standard deviations of the noise, > 0
  double k;  ///< epochs, a whole number >= 1
  StepDirection direction = StepDirection::remove;

  void require_valid() const;
  [[nodiscard]] double highest_loss() const;
  [[nodiscard]] AllocatedGaussian exchanged() const;
  [[nodiscard]] StepKind kind() const { return {direction, t}; }
  [[nodiscard]] Signals signals() const { return {m, 1.0}; }
  void set_signals(Signals to) { m = to.first; }
  /// Every epoch samples a record.
  [[nodiscard]] double expected_sampled() const;
  [[nodiscard]] std::optional<Contribution> contribution() const { return std::nullopt; }
  [[nodiscard]] BoundedStep<AllocatedGaussian> bounded() const;
  [[nodiscard]] double steepest() const;
  [[nodiscard]] std::optional<RatioStep> as_ratio() const { return std::nullopt; }
  [[nodiscard]] AllocationMoments moments() const { return {{t, m}, direction}; }
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                            double enough) const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double) const { return std::nullopt; }
};

}  // namespace sfumato
