#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/claim_plan.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/score_sample.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/lab/audit/audit_question.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What two files of scores held.
struct ScoreFiles {
  std::size_t with = 0, without = 0;  ///< scores of the first column
  std::size_t columns = 1;
};

/// What LiRA's layout held.
struct ShadowLayout {
  std::size_t models = 0, records = 0;
};

/// Scores of a sample, counted from 0, that repeat others.
struct RepeatsOf {
  std::size_t sample;
  RepeatedScores scores;
};

/// What imported scores show.
struct ScoresAudit {
  std::variant<ScoreFiles, ShadowLayout> source;
  std::vector<double> deltas, epsilons;
  double confidence = 0.95;
  std::optional<Audit> bounds;         ///< of models
  std::optional<OneRunAudit> one_run;  ///< of records that were included by coins
  bool ties = false;  ///< canaries of two files share scores, which counts against the attacker
  std::vector<RepeatsOf> repeats;
  std::vector<NamedAttack> attacks;
  std::optional<ClaimCheck> claim;
};

/// What an audit can show, before any model is trained. The verdict is `open` if the planned models are too few.
struct AuditPlan {
  ClaimPlan claim;
  double confidence = 0.95;
};

struct AuditAnswer {
  AuditQuestion question;
  std::variant<ScoresAudit, LedgerAudit, AuditPlan> found;
  Verdict verdict = Verdict::none;
};

/// Throws   InvalidArgument as check(), read_samples(), read_shadows() and audit() of a ledger.
[[nodiscard]] AuditAnswer answer(const AuditQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const AuditAnswer& answer, Detail detail);

}  // namespace sfumato::lab
