#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// The maximum auditable epsilon: the largest that `runs` models per world can show at level alpha, by an attack that never
/// errs (Spec §11.3): about log(runs / log(2 / alpha)). No audit of them says more.
/// Throws   InvalidArgument if there are no runs or alpha is not in (0, 1).
[[nodiscard]] double maximum_epsilon(std::uint64_t runs, Delta delta, double alpha);

/// How well an attack does: its true- and false-positive rates.
struct AttackRates {
  double tpr = 1.0;
  double fpr = 0.0;
};

/// What an attack of these rates does with so many models of each world, rounded against it, so that
/// nothing depends on luck.
/// Throws   InvalidArgument if a rate is not a probability.
[[nodiscard]] TestCounts expected_counts(std::uint64_t models, const AttackRates& attack);

/// A test that an audit would make, with the counts it would see.
struct PlannedTest {
  TestCounts counts;
  double alpha;
};

/// The least number of models per world with which one of the planned tests shows more than
/// (epsilon, delta). Nothing if no number up to 10^7 does: the attack is too weak to refute the claim,
/// however often it is repeated. For a perfect attack: what any audit needs at least.
///
/// `plan` is called with numbers of models; where it plans no test, nothing is shown.
/// Throws   InvalidArgument if a planned alpha is not in (0, 1).
[[nodiscard]] std::optional<std::uint64_t> runs_to_refute(
    Epsilon epsilon, Delta delta,
    const std::function<std::vector<PlannedTest>(std::uint64_t models)>& plan);

}  // namespace sfumato
