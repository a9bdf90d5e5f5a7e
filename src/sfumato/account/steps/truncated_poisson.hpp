#pragma once

#include <cstdint>
#include <variant>

#include "sfumato/account/steps/fixed_size_gaussian.hpp"
#include "sfumato/account/steps/sampled_gaussian.hpp"

namespace sfumato {

/// Steps of Poisson batches that are cut to a largest size (Spec §19.8). Given how many of the other records are drawn, either all of a
/// batch is kept, and the step is a SampledGaussian; or, with a probability of at most `overflow`, a record that is kept takes the place of another:
/// the outputs are twice as far apart. The pair that says which of the two it was dominates the step:
///
///   M(s) = (1 - overflow) M_{q, m}(s) + overflow M'_{q, 2m}(s)
///
/// with M' of SampledGaussian for neighbours that have a record more, of TwoSidedGaussian for those that exchange one or make it null.
/// delta grows with q, m and overflow, since the second pair dominates the first.
struct TruncatedPoisson {
  double q;         ///< sampling rate, in (0, 1)
  double m;         ///< largest contribution of a record in standard deviations of the noise, > 0
  double overflow;  ///< in (0, 1)
  double k;
  StepDirection direction = StepDirection::remove;
  bool exchanges = false;  ///< whether M' is that of a record exchanged

  void require_valid() const;
  [[nodiscard]] double highest_loss() const;
  [[nodiscard]] TruncatedPoisson exchanged() const;
  [[nodiscard]] StepKind kind() const { return {direction, exchanges ? -overflow : overflow}; }
  [[nodiscard]] Signals signals() const { return {q, m}; }
  void set_signals(Signals to) { q = to.first, m = to.second; }
  [[nodiscard]] double expected_sampled() const { return k * q; }
  [[nodiscard]] std::optional<Contribution> contribution() const;
  [[nodiscard]] BoundedStep<TruncatedPoisson> bounded() const;
  [[nodiscard]] double steepest() const;
  [[nodiscard]] std::optional<RatioStep> as_ratio() const { return std::nullopt; }
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double s0, double reach) const;
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                            double enough) const;
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double) const { return std::nullopt; }

  /// The two pairs, of all k steps each.
  [[nodiscard]] SampledGaussian uncut() const { return {q, m, k, direction}; }
  [[nodiscard]] std::variant<SampledGaussian, TwoSidedGaussian> cut() const;
};

/// At least the probability that a batch exceeds `cap` if a given one of `records` records is drawn, each with the probability q; 0 where it cannot.
[[nodiscard]] double overflow_probability(std::uint64_t records, std::uint64_t cap, double q);

/// At most the probability that a given record is drawn and kept (Spec §19.8): the rate of the step on data whose other records contribute nothing.
[[nodiscard]] double kept_probability(std::uint64_t records, std::uint64_t cap, double q);

}  // namespace sfumato
