#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/audit/guarantee.hpp"
#include "sfumato/audit/score_audit.hpp"

namespace sfumato {

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

/// Throws   InvalidArgument at the key of a value that cannot be: `confidence`, `delta`, `epsilons`,
///          `choosing`, `threshold`, `look`.
void check(const LedgerAuditOptions& options);

/// What audit_scores() is told. Where no confidence or delta is given it is `confidence` and `delta`.
[[nodiscard]] AuditOptions audit_options(const LedgerAuditOptions& options, double confidence,
                                         Delta delta);

}  // namespace sfumato
