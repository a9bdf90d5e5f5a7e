#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sfumato/core/units.hpp"

namespace sfumato {

/// The largest epsilon that `runs` models per world can show at level alpha, by an attack that never
/// errs (Spec §11.3): about log(runs / log(2 / alpha)). No audit of them says more.
/// Throws   InvalidArgument if there are no runs or alpha is not in (0, 1).
[[nodiscard]] double epsilon_cap(std::uint64_t runs, Delta delta, double alpha);

/// How well an attack does: its true- and false-positive rates.
struct AttackRates {
  double tpr = 1.0;
  double fpr = 0.0;
};

/// What an audit makes of so many models per world: how many decide, and at which level.
struct TestPlan {
  std::uint64_t deciding;
  double alpha;
};

/// The least number of models per world with which an attack of these rates, if it does as expected,
/// shows more than (epsilon, delta). Nothing if no number up to 10^7 does: the attack
/// is too weak to refute the claim, however often it is repeated. For a perfect attack: what any audit
/// needs at least.
///
/// `plan` is called with numbers of models; where none decide, nothing is shown.
/// Throws   InvalidArgument if a rate is not a probability or a planned alpha is not in (0, 1).
[[nodiscard]] std::optional<std::uint64_t> runs_to_refute(
    Epsilon epsilon, Delta delta, const AttackRates& attack,
    const std::function<TestPlan(std::uint64_t models)>& plan);

}  // namespace sfumato
