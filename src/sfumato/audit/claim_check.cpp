#include "sfumato/audit/claim_check.hpp"

namespace sfumato {
namespace {

ClaimOutcome outcome_of(const ClaimedGuarantee& claim, Epsilon found, double maximum,
                        bool reversed) {
  if (found > claim.epsilon) return ClaimOutcome::violation;
  if (!(maximum > claim.epsilon.nats())) return ClaimOutcome::not_enough_runs;
  return reversed ? ClaimOutcome::wrong_way : ClaimOutcome::not_refuted;
}

}  // namespace

Verdict verdict_of(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::violation: return Verdict::violated;
    case ClaimOutcome::not_enough_runs:
    case ClaimOutcome::wrong_way: return Verdict::open;
    case ClaimOutcome::not_refuted: return Verdict::not_refuted;
  }
  throw InternalError("an unknown outcome of a claim");
}

ClaimCheck check_claim(const Audit& audit, const ClaimedGuarantee& claim, bool reversed,
                       ClaimEvidence evidence) {
  const Claimed<Epsilon> found = audit.epsilon(claim.delta);
  const double maximum = audit.maximum_epsilon(claim.delta);
  return {claim,   outcome_of(claim, found.value, maximum, reversed), found,
          maximum, audit.runs_to_refute(claim.epsilon, claim.delta),  evidence};
}

ClaimCheck check_claim(const OneRunAudit& audit, const ClaimedGuarantee& claim, bool reversed) {
  const Claimed<Epsilon> found = audit.epsilon(claim.delta);
  const double maximum = audit.maximum_epsilon(claim.delta);
  return {claim, outcome_of(claim, found.value, maximum, reversed),
          found, maximum,
          {},    ClaimEvidence::canaries};
}

Verdict worst_of(std::span<const ClaimCheck> checks) {
  Verdict verdict = Verdict::none;
  for (const ClaimCheck& check : checks) verdict = worst(verdict, check.verdict());
  return verdict;
}

}  // namespace sfumato
