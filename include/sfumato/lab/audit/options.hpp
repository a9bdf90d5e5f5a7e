#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/score_audit.hpp"

namespace sfumato::lab {

/// What an attacker needs for a score.
enum class ScoreAccess {
  outputs,       ///< black box: the model's answer on a record
  weights,       ///< white box
  distribution,  ///< white box, and the distributions of the weights on D and on D'
};

/// Which look at a growing ledger an audit is. The number of runs that a level is meant for is fixed by
/// the study; who looks before the end may look again, so the level is split over the looks
/// (level_of_look() of audit/score_audit.hpp).
struct Look {
  std::uint64_t number = 1;
  bool splits = false;  ///< the level: this look is not the first, or will not be the last
  bool is_new = true;   ///< no look at as many trials was recorded before
};

/// How scores are judged. What is not given is the study's where there is one.
struct LedgerAuditOptions {
  std::string policy;  ///< of the ledger, by its name; empty: all of them
  std::string score;   ///< of the ledger; empty: the strongest that its models have
  std::vector<double> deltas, epsilons;   ///< to bound epsilon at, and delta at
  std::optional<ClaimedGuarantee> claim;  ///< to check in place of the study's
  std::optional<double> confidence;       ///< of all bounds together, of all policies too
  ThresholdStrategy strategy = ThresholdStrategy::combined;
  std::vector<double> thresholds;     ///< for ThresholdStrategy::fixed
  double choosing = 0.25;             ///< share of the models that choose a threshold
  std::optional<std::uint64_t> look;  ///< which look at a growing set of models this is, at least
  std::optional<std::uint64_t> guesses;  ///< on canaries: how many, settled before
  std::uint64_t seed = 0;                ///< of sample splitting and ties
};

}  // namespace sfumato::lab
