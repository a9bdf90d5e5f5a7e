#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

/// What decides between canaries of equal scores. A guess may depend on scores and on chance, never on coins.
enum class Ties {
  at_random,  ///< a random order by seed; for canaries in an order that has nothing to do with their coins
  against_attacker,  ///< whatever makes most guesses wrong; for canaries that are listed by their coins
};

/// Guesses from the scores of canaries on one model: of each number in `guesses`, the half with the highest
/// scores are said to be members, the half with the lowest not (an odd one goes to the members); on the
/// others the attacker abstains.
///
/// `included[i]` tells whether canary i was trained on; it decides what is correct and, against the
/// attacker, ties. A random order of a list in which members come first would be fixed by seed and size
/// alone: for some sizes it favours the attacker in every audit.
/// Throws   InvalidArgument if sizes differ, there are no canaries, a score is NaN, or more are to be
///          guessed than there are.
[[nodiscard]] std::vector<CanaryGuesses> guess_canaries(std::span<const double> scores,
                                                        std::span<const std::uint8_t> included,
                                                        std::span<const std::uint64_t> guesses,
                                                        Ties ties, std::uint64_t seed = 0);

/// Canaries of one model, their coins, and what the order in which they come may tell about the coins.
struct CanaryScores {
  std::vector<double> scores;
  std::vector<std::uint8_t> included;
  Ties ties = Ties::at_random;
};

/// The scores by coin.
[[nodiscard]] ScoreSample by_coin(const CanaryScores& canaries);

/// Whether two canaries have the same score.
[[nodiscard]] bool have_ties(const CanaryScores& canaries);

/// What canaries are guessed with.
struct CanaryOptions {
  double level = 0.05;  ///< what the audit, or all replicas together, may err with
  std::optional<std::uint64_t>
      guesses;             ///< settled before; none: guess_numbers() of so many canaries
  std::uint64_t seed = 0;  ///< of ties
};

/// One model. Throws   as guess_canaries().
[[nodiscard]] OneRunAudit one_run_audit(const CanaryScores& canaries, const CanaryOptions& options);

/// Several models, each with coins of its own, that may all be looked at: the level is divided by the
/// number that was planned, whether all of them were trained or not, so that all bounds hold together.
/// Throws   as guess_canaries(); InvalidArgument if more were trained than planned.
[[nodiscard]] std::vector<OneRunAudit> audit_replicas(std::span<const CanaryScores> models,
                                                      std::uint64_t planned,
                                                      const CanaryOptions& options);

/// The one that shows the largest epsilon; the first of several. It needs one.
[[nodiscard]] const OneRunAudit& best_replica(std::span<const OneRunAudit> replicas, Delta delta);

}  // namespace sfumato
