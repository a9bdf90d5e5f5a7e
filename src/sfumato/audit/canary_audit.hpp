#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sfumato/audit/canary_guesses.hpp"
#include "sfumato/audit/one_run_audit.hpp"
#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

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
