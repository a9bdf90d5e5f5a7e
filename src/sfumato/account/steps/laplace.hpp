#pragma once

#include "sfumato/account/steps/mechanism_rules.hpp"
#include "sfumato/account/steps/step_answers.hpp"

namespace sfumato {

/// Steps that add noise of a Laplace distribution to what changes by at most its scale times eps0 (Spec §17.4).
struct LaplaceStep {
  double eps0;  ///< sensitivity / scale, > 0
  double k;

  void require_valid() const;
  [[nodiscard]] double highest_loss() const { return eps0; }
  [[nodiscard]] LaplaceStep exchanged() const { return *this; }
  [[nodiscard]] StepKind kind() const { return {StepDirection::remove, 1.0}; }
  [[nodiscard]] Signals signals() const { return {eps0, 1.0}; }
  void set_signals(Signals to) { eps0 = to.first; }
  [[nodiscard]] double expected_sampled() const { return 0.0; }
  [[nodiscard]] std::optional<Contribution> contribution() const { return std::nullopt; }
  [[nodiscard]] BoundedStep<LaplaceStep> bounded() const { return bounded_loss(*this); }
  [[nodiscard]] double steepest() const { return eps0; }
  [[nodiscard]] std::optional<RatioStep> as_ratio() const { return std::nullopt; }
  [[nodiscard]] TiltedDistribution tilted_distribution(double s0, double reach) const;
  [[nodiscard]] double points(double s0, double reach) const;
  /// No decay is known: a small normal loss ends the sum (Spec §18.6).
  [[nodiscard]] DecayBound log_bound_beyond(const StepCumulant&, double, double, double) const {
    return {0.0, 0.0};
  }
  [[nodiscard]] LossDistribution loss_distribution() const;
  [[nodiscard]] std::optional<LogEnclosure> one_step_delta(double eps) const;
};

/// Laplace noise: every record takes part.
template <>
struct MechanismRules<LaplaceNoise> {
  static constexpr const char* kName = "laplace";
  static constexpr bool kAddsNoise = true, kTakesSampler = false;
  static void require(const LaplaceNoise& noise) { require_multiplier(noise.noise_multiplier); }
  [[nodiscard]] static std::string describe(const LaplaceNoise& noise,
                                            const PrivateRelease& release);
  [[nodiscard]] static std::vector<std::string> conditions() { return {}; }
  static void compose(const LaplaceNoise& noise, const ReleaseSetting& setting, TotalLoss& loss);
  [[nodiscard]] static double* multiplier(LaplaceNoise& noise) { return &noise.noise_multiplier; }
  [[nodiscard]] static std::optional<double> gdp_mu(const LaplaceNoise&, const ReleaseSetting&) {
    return std::nullopt;
  }
  [[nodiscard]] static std::optional<double> clt_variance(const LaplaceNoise&,
                                                          const ReleaseSetting&) {
    return std::nullopt;
  }
  [[nodiscard]] static PrivateRelease read(ReleaseReader& reader);
  static void write(const LaplaceNoise& noise, ReleaseFields& fields) {
    fields.noise_multiplier = {noise.noise_multiplier};
  }
};

}  // namespace sfumato
