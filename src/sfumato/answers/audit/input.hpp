#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/audit/guarantee.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/shadow_scores.hpp"

namespace sfumato {

struct AuditCommand {
  std::string members, non_members;  ///< files of scores
  std::string logits, membership;    ///< or LiRA's layout
  std::string ledger;                ///< or a ledger of `study run`
  std::string policy;                ///< of the ledger; empty: all
  std::string score;                 ///< of the ledger; empty: the default of its models
  std::string unit;                  ///< "models" or "records"
  std::string larger_means = "member";
  std::string strategy = "combined";
  std::vector<double> thresholds;
  double confidence = 0.95;
  bool own_confidence = false;  ///< given, not that of the study
  double choosing_fraction = 0.25;
  std::vector<double> epsilons, deltas;
  std::string claim;
  std::optional<std::uint64_t> look;
  std::uint64_t seed = 0;
  std::string adjacency, access;
  bool pool = false;
  bool independent_worlds = false;
  bool randomised = false;
  std::optional<std::uint64_t> guesses;
  std::uint64_t model = 1;  ///< the target of a one-run audit in LiRA's layout
  bool json = false;
};

/// The options of the library that the command line stands for.
[[nodiscard]] AuditOptions audit_options(const AuditCommand& command);

/// --claim as parse_guarantee().
/// Throws   InvalidArgument for anything else.
[[nodiscard]] ClaimedGuarantee parse_claim(const std::string& text);

/// One sample per column of the two files, larger scores meaning members.
/// Throws   InvalidArgument as read_array(), if the files differ in columns, if all scores of a
///          column are equal, or if members and non-members have the same scores.
[[nodiscard]] std::vector<ScoreSample> read_samples(const AuditCommand& command);

/// Throws   InvalidArgument as read_array() and require_shadows(), or if the mask is not made of 0 and 1.
[[nodiscard]] ShadowScores read_shadows(const AuditCommand& command);

}  // namespace sfumato
