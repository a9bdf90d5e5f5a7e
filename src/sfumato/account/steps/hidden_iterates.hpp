#pragma once

#include "sfumato/account/steps/mechanism_rules.hpp"

namespace sfumato {

/// The last iterate alone: Gaussian privacy without sampling (Spec §19.7).
template <>
struct MechanismRules<HiddenIterates> {
  static constexpr const char* kName = "last_iterate";
  static constexpr bool kAddsNoise = false, kTakesSampler = false;
  static void require(const HiddenIterates& last);
  [[nodiscard]] static std::string describe(const HiddenIterates& last,
                                            const PrivateRelease& release);
  [[nodiscard]] static std::vector<std::string> conditions() {
    return {"earlier iterates stay secret, and the maps contract as stated"};
  }
  static void compose(const HiddenIterates& last, const ReleaseSetting& setting, TotalLoss& loss);
  [[nodiscard]] static double* multiplier(HiddenIterates&) { return nullptr; }
  [[nodiscard]] static std::optional<double> gdp_mu(const HiddenIterates& last,
                                                    const ReleaseSetting& setting) {
    return setting.group() * last.mu;
  }
  [[nodiscard]] static std::optional<double> clt_variance(const HiddenIterates&,
                                                          const ReleaseSetting&) {
    return std::nullopt;
  }
  [[nodiscard]] static PrivateRelease read(ReleaseReader& reader);
  static void write(const HiddenIterates& last, ReleaseFields& fields) { fields.mu = last.mu; }
};

}  // namespace sfumato
