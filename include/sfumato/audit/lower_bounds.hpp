#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Outcomes of one test (an event, such as a score above a threshold) on models of both worlds.
struct TestCounts {
  std::uint64_t true_positives;   ///< models of D in the event
  std::uint64_t positives;        ///< models of D
  std::uint64_t false_positives;  ///< models of D' in the event
  std::uint64_t negatives;        ///< models of D'
  friend bool operator==(const TestCounts&, const TestCounts&) = default;
};

/// Bounds on the two rates of a test that hold together with probability 1 - alpha, by Clopper-Pearson
/// and a union bound: the worlds need not be independent of each other (Spec §11.3 (1)). The rates of
/// the complement are kept beside them, because one minus a rate near one loses its digits.
struct RateBounds {
  double tpr_lower, fnr_upper;  ///< P(event), P(not event) on D
  double fpr_upper, tnr_lower;  ///< the same on D'
};

/// Throws   InvalidArgument if a world has no model, counts do not fit, or alpha is not in (0, 1).
[[nodiscard]] RateBounds rate_bounds(const TestCounts& counts, double alpha);

/// The three bounds that follow from the same two intervals, hence hold together with them. Numbers
/// without a claim, for inner loops; rounded down.
///
///   Spec §11.3 (4):  max(0, log((TPR - delta)/FPR), log((1 - FPR - delta)/(1 - TPR)))
///   Spec §11.3 (3):  max(0, TPR - e^eps FPR), and its reverse  (1 - FPR) - e^eps (1 - TPR)
///   Spec §11.3 (5):  max(0, Phi^{-1}(TPR) - Phi^{-1}(FPR))
///
/// Both worlds may be the first one, so the first two take the better of both directions.
[[nodiscard]] double epsilon_lower(const RateBounds& rates, Delta delta);
[[nodiscard]] double delta_lower(const RateBounds& rates, Epsilon epsilon);
[[nodiscard]] double mu_lower(const RateBounds& rates);

/// The same for one event that was fixed before these models were looked at.
/// Throws   InvalidArgument as rate_bounds(), or if confidence is not in (0, 1).
[[nodiscard]] Claimed<Epsilon> epsilon_lower_bound(const TestCounts& counts, Delta delta,
                                                   double confidence);
[[nodiscard]] Claimed<Delta> delta_lower_bound(const TestCounts& counts, Epsilon epsilon,
                                               double confidence);
/// A lower bound on mu only if the mechanism is mu-GDP for some mu; else it says nothing.
[[nodiscard]] Claimed<double> mu_lower_bound(const TestCounts& counts, double confidence);

/// What the bounds of an audit assume, in words.
inline constexpr const char* kIndependentModels =
    "the models of each data set are trained independently of one another (D and D' may share "
    "seeds)";
inline constexpr const char* kAssumesGdp =
    "the mechanism is Gaussian-DP for some mu: nothing in the scores can show that it is";

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
