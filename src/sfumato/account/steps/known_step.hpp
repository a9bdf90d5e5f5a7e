#pragma once

#include "sfumato/account/steps/mechanism_rules.hpp"
#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// Steps known to be eps0-DP and nothing else: the worst of them answers truthfully with odds e^eps0 (Spec §17.4). The delta0 of a step
/// that is (eps0, delta0)-DP belongs into TotalLoss::log_survival.
struct RandomisedResponse {
  double eps0;  ///< > 0
  double k;

  void require_valid() const;
  [[nodiscard]] double highest_loss() const { return eps0; }
  [[nodiscard]] RandomisedResponse exchanged() const { return *this; }
  [[nodiscard]] StepKind kind() const { return {StepDirection::remove, 1.0}; }
  [[nodiscard]] Signals signals() const { return {eps0, 1.0}; }
  void set_signals(Signals to) { eps0 = to.first; }
  [[nodiscard]] double expected_sampled() const { return 0.0; }
  [[nodiscard]] std::optional<Contribution> contribution() const { return std::nullopt; }
  [[nodiscard]] BoundedStep<RandomisedResponse> bounded() const { return bounded_loss(*this); }
  [[nodiscard]] double steepest() const { return eps0; }
  [[nodiscard]] std::optional<RatioStep> as_ratio() const { return std::nullopt; }
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double, double) const { return 2.0; }
  /// Two points do not decay: a small normal loss ends the sum (Spec §18.6).
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant&, double, double, double) const {
    return {0.0, 0.0};
  }
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double eps) const;
};

/// Steps stated to be private.
template <>
struct MechanismRules<KnownStep> {
  static constexpr const char* kName = "known";
  static constexpr bool kAddsNoise = false, kTakesSampler = false;
  static void require(const KnownStep& step);
  [[nodiscard]] static std::string describe(const KnownStep& step, const PrivateRelease& release);
  [[nodiscard]] static std::vector<std::string> conditions() {
    return {"the stated (epsilon, delta) of single steps holds for these neighbours"};
  }
  static void compose(const KnownStep& step, const ReleaseSetting& setting, TotalLoss& loss);
  [[nodiscard]] static double* multiplier(KnownStep&) { return nullptr; }
  [[nodiscard]] static std::optional<double> gdp_mu(const KnownStep&, const ReleaseSetting&) {
    return std::nullopt;
  }
  [[nodiscard]] static std::optional<double> clt_variance(const KnownStep&, const ReleaseSetting&) {
    return std::nullopt;
  }
  [[nodiscard]] static PrivateRelease read(ReleaseReader& reader);
  static void write(const KnownStep& step, ReleaseFields& fields) {
    fields.step_epsilon = step.epsilon.nats();
    fields.step_delta = step.delta.probability();
  }
};

}  // namespace sfumato
