#pragma once

#include <string>
#include <vector>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/one_run_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// An attack's scores, by membership, or why it could not be run.
struct NamedAttack {
  std::string name;
  ScoreSample scores;
  std::string problem = {};
};

/// Membership inference as it is usually reported: AUC, advantage, TPR at low FPR, ROC.
void add_membership(Document& document, const std::vector<NamedAttack>& attacks, double confidence);

/// What scores of models bound, and by which tests.
void add_bounds(Document& document, const Audit& audit, const AuditCommand& command);

/// What one run with canaries bounds.
void add_one_run(Document& document, const OneRunAudit& audit, const std::vector<double>& deltas);

/// How people count the models that a claim would need.
enum class RunsNeeded { models_per_world, shadow_models };

/// What a verdict takes into account besides the numbers.
struct Judgement {
  bool reversed = false;  ///< scores_reversed(): tests that looked the wrong way refute nothing
  RunsNeeded unit = RunsNeeded::models_per_world;
  std::string more =
      {};  ///< what to do where runs are not enough, if not as many as the check says
};

/// A claim against what was found, and the exit code of the verdict; a violation is never overwritten.
void add_claim(Document& document, const ClaimCheck& check, const ClaimedGuarantee& claim,
               const Judgement& judgement, Verdict& verdict);

/// What the numbers are about and what they do not say.
void state_scope(Document& document, const AuditCommand& command, const std::string& runs);

}  // namespace sfumato
