#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sfumato/data/adjacency.hpp"
#include "sfumato/lab/audit/options.hpp"

namespace sfumato::lab {

/// What a score belongs to.
enum class ScoreUnit {
  models,   ///< a model of its own: scores bound epsilon
  records,  ///< a record of one model: scores describe that model
};

enum class LargerMeans { member, nonmember };

/// What do scores of trained models show about epsilon? Of a ledger, of two files of scores, or of the logits of
/// shadow models. Or, before any is trained: how many models does it take?
struct AuditQuestion : LedgerAuditOptions {
  std::optional<ClaimedGuarantee> plan;  ///< to refute this claim, in place of scores
  std::optional<std::uint64_t> runs;     ///< with plan: models per world, at most 10^7

  std::string ledger;               ///< of `study run`
  std::string members, nonmembers;  ///< scores with and without the record, CSV or NPY
  std::string logits, membership;  ///< LiRA's layout: models x records, and who was trained on what

  // Of imported scores:
  std::optional<ScoreUnit> unit;  ///< they need it
  LargerMeans larger_means = LargerMeans::member;
  bool pool = false;  ///< columns are pairs that each run drew at random: one sample
  bool independent_worlds =
      false;                ///< members and non-members share no seeds: credible interval too
  bool randomised = false;  ///< each record was included by a fair coin: one-run audit
  std::uint64_t model = 1;  ///< in LiRA's layout: the target of a one-run audit, from 1
  std::optional<Adjacency> adjacency;  ///< how D' differs from D, for the statement
  std::optional<ScoreAccess> access;   ///< of the attacker, for the statement
};

}  // namespace sfumato::lab
