#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/score_sample.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/lab/audit/options.hpp"
#include "sfumato/lab/audit/two_sided.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

struct Study;

/// Runs whose path KL is infinite, and which parameters made it so.
struct InfinitePaths {
  Pair<std::uint64_t> runs{0, 0}, infinite{0, 0};  ///< along D and along D'
  std::vector<std::string> parameters;             ///< a few of them
};

/// Losses at the end of training, of models that did not diverge.
struct FinalLosses {
  Pair<std::vector<double>> differing;  ///< of the differing record
  double worst = 0.0;                   ///< largest over models of the mean loss on D
  double largest = 0.0;                 ///< over models and records; NaN where there are no records
};

/// Models of D beside models of D'.
struct PairedModels {
  Audit audit;
  ProvenBounds proven;
  PathKl path_kl;
  std::vector<TwoSided> quantities = {};  ///< at the deltas and epsilons of the audit
  ScoreSample scores = {};                ///< of all pairs
  FinalLosses losses = {};
  InfinitePaths infinite = {};
};

/// Models of a world that holds canaries by fair coins: each is audited by itself (Spec §11.4).
struct CanaryModels {
  std::vector<OneRunAudit> replicas;  ///< the level is divided by their number
  ScoreSample scores;                 ///< of all replicas, by coin
  /// What the best replica shows beside what is proven: epsilon at the deltas of the audit, and mu.
  std::vector<TwoSided> quantities = {};
};

/// Shadow models: half of them fit LiRA, each of the others is attacked on one record.
struct ShadowModels {
  std::size_t models = 0;
  std::optional<Audit> audit;
  std::string no_audit;              ///< why there is none
  std::vector<NamedAttack> attacks;  ///< LOSS, LiRA and RMIA, as description
};

/// What the models of one noise policy show.
struct PolicyAudit {
  std::string policy;
  std::uint64_t diverged = 0, failed = 0;
  std::variant<PairedModels, CanaryModels, ShadowModels> models;
  std::vector<ClaimCheck> claims;
  /// The worst of the claims, violated where a proof is contradicted. Of a control nothing is claimed: its
  /// `claims` say whether the attack would refute them there, and are no part of the verdict.
  Verdict verdict = Verdict::none;
  bool control = false;

  /// The lower bound at `delta`, and the largest that could have been shown (the maximum auditable epsilon);
  /// none if shadow models allow no audit. Of several replicas the best.
  [[nodiscard]] std::optional<Claimed<Epsilon>> epsilon(Delta delta) const;
  [[nodiscard]] std::optional<double> maximum(Delta delta) const;
  /// What is known from both sides; nothing of shadow models.
  [[nodiscard]] std::span<const TwoSided> quantities() const;
  /// Whether the attack shows what it should on a policy that hides nothing: more than every claim or, without claims,
  /// an epsilon above 0 at `delta`.
  [[nodiscard]] bool attack_works(Delta delta) const;
};

/// That the score is another than the default, because models of `policy` have not the default `wanted`.
struct ScoreFallback {
  std::string policy, wanted;
};

/// What the models of a ledger show: the one object that everything which speaks of it is made of.
struct LedgerAudit {
  std::string ledger;  ///< path
  LedgerIdentity identity;
  std::shared_ptr<const Study> study;  ///< what the library read; `identity.study` is its text
  std::vector<double> deltas = {}, epsilons = {};
  std::vector<ClaimedGuarantee> claims = {};
  AuditOptions options = {};  ///< shared by the policies
  std::string score = {};     ///< empty where coins made the worlds
  ScoreAccess access = ScoreAccess::outputs;
  std::optional<ScoreFallback> fallback = {};
  Look look = {};
  std::uint64_t trials = 0, planned = 0;
  std::vector<PolicyAudit> policies = {};  ///< in the order of the study, controls last
  Verdict verdict = Verdict::none;         ///< the worst of the policies
};

/// Audits every noise policy of a ledger, or the one that is named, by the scores that were recorded when its
/// models were trained. A look at a growing ledger is recorded in it.
///
/// Throws   InvalidArgument as check() and study_of(); at `policy`, `score` or `guesses` for one that the
///          ledger has not; with the ledger's path if a policy has too few finished models, or the look
///          cannot be recorded and was not given.
[[nodiscard]] LedgerAudit audit(const Ledger& ledger, const LedgerAuditOptions& options);

}  // namespace sfumato::lab
