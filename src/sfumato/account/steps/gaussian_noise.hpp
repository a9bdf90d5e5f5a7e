#pragma once

#include "sfumato/account/steps/mechanism_rules.hpp"

namespace sfumato {

/// Normal noise, by all samplers (Spec §17.2, §17.3, §19.3 to §19.6).
template <>
struct MechanismRules<GaussianNoise> {
  static constexpr const char* kName = "gaussian";
  static constexpr bool kAddsNoise = true, kTakesSampler = true;
  static void require(const GaussianNoise& noise) { require_multiplier(noise.noise_multiplier); }
  [[nodiscard]] static std::string describe(const GaussianNoise& noise,
                                            const PrivateRelease& release);
  [[nodiscard]] static std::vector<std::string> conditions() { return {}; }
  static void compose(const GaussianNoise& noise, const ReleaseSetting& setting, TotalLoss& loss);
  [[nodiscard]] static double* multiplier(GaussianNoise& noise) { return &noise.noise_multiplier; }
  [[nodiscard]] static std::optional<double> gdp_mu(const GaussianNoise& noise,
                                                    const ReleaseSetting& setting);
  [[nodiscard]] static std::optional<double> clt_variance(const GaussianNoise& noise,
                                                          const ReleaseSetting& setting);
  [[nodiscard]] static PrivateRelease read(ReleaseReader& reader);
  static void write(const GaussianNoise& noise, ReleaseFields& fields) {
    fields.noise_multiplier = {noise.noise_multiplier};
  }
};

}  // namespace sfumato
