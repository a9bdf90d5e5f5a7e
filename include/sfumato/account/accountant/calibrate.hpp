#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// What releases may reveal at most (Spec §20.1).
struct PrivacyBudget {
  Epsilon epsilon;
  Delta delta;
};
struct AdvantageLimit {
  double advantage;  ///< in (0, 1)
};
struct RateLimit {
  double tpr, fpr;  ///< 0 <= fpr < tpr <= 1
};
struct GdpLimit {
  double mu;  ///< > 0
};
using PrivacyTarget = std::variant<PrivacyBudget, AdvantageLimit, RateLimit, GdpLimit>;

/// Whether the proven upper bound is within the target.
[[nodiscard]] bool meets(const PrivateReleases& releases, const PrivacyTarget& target);

/// mu of Gaussian privacy that holds for all epsilons; nothing for noise that is not Gaussian. Sampling does not lower it: at
/// small enough deltas the steps that all sample a record decide.
[[nodiscard]] std::optional<Claimed<double>> gdp_mu(const PrivateReleases& releases);

/// The noise multiplier that calibration changes; null for a mechanism that has none.
[[nodiscard]] double* multiplier_of(Mechanism& mechanism);

/// The least factor for the noise multipliers of `runs` with which they meet the target, together with what was released before; from above to
/// a relative 1e-10: the result meets it, and for a PrivacyBudget Accountant::epsilon() of it is not above the target either.
/// Edges    0 where no noise at all is needed.
/// Throws   InvalidArgument if the target is out of range (delta = 0 or 1, tpr <= fpr, ...), if there is no noise to change, or if
///          `before` exceeds the target already; Stopped if the observer asked to stop.
[[nodiscard]] double least_noise(const PrivateReleases& before,
                                 const std::vector<PrivateRelease>& runs,
                                 const PrivacyTarget& target, const Observer* observer = nullptr);

/// The most steps of `step` that can follow `before` within the target: each number up to it meets it.
/// Edges    0 if one is too many; 2^53 if none is.
/// Throws   Stopped if the observer asked to stop.
[[nodiscard]] std::uint64_t most_steps(const PrivateReleases& before, const PrivateRelease& step,
                                       const PrivacyTarget& target,
                                       const Observer* observer = nullptr);

/// The fewest batches of an epoch of random allocation within the target; any more meet it too (Spec §28.3).
/// Throws   InvalidArgument if 2^24 do not; Stopped if the observer asked to stop.
[[nodiscard]] std::uint64_t least_batches(const PrivateReleases& before,
                                          const PrivateRelease& epochs, const PrivacyTarget& target,
                                          const Observer* observer = nullptr);

}  // namespace sfumato
