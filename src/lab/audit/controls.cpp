#include "lab/audit/controls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/audit/claims.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kWeak =
    "This audit is weak: that a claim about another policy is not refuted says little.";

/// The claim that is hardest to refute with these models: one that they do not refute, or the largest.
const ClaimCheck& hardest(const PolicyAudit& control) {
  return *std::max_element(control.claims.begin(), control.claims.end(),
                           [](const ClaimCheck& a, const ClaimCheck& b) {
                             const bool a_left = a.outcome != ClaimOutcome::violation;
                             const bool b_left = b.outcome != ClaimOutcome::violation;
                             if (a_left != b_left) return b_left;
                             return a.claim.epsilon < b.claim.epsilon;
                           });
}

}  // namespace

std::string label_of(const PolicyAudit& policy) {
  return policy.control ? policy.policy + " (control)" : policy.policy;
}

Text control_text(const LedgerAudit& audit, const PolicyAudit& control) {
  const Delta delta(audit.deltas.front());
  const bool works = control.attack_works(delta);
  const Text opening =
      say("Control {}: the attack {}", control.policy, works ? "works" : "does NOT work");
  if (!control.claims.empty()) {
    const ClaimCheck& check = hardest(control);
    const Text shown = shown_with_maximum(check.found, check.maximum);
    const Maths claim = claim_said(check.claim);
    if (works) return say("{}, {}: it would refute {} here.", opening, shown, claim);
    return say("{}, {}: {}. {}", opening, shown,
               check.outcome == ClaimOutcome::not_enough_runs
                   ? say("these are too few models to refute {}", claim)
               : check.outcome == ClaimOutcome::wrong_way
                   ? Text("non-members score higher than members")
                   : say("too little to refute {} even here", claim),
               kWeak);
  }
  const auto found = control.epsilon(delta);
  if (!found) return say("{}: its models allow no audit. {}", opening, kWeak);
  const Text shown = say("{} at {}", shown_with_maximum(*found, control.maximum(delta).value()),
                         Maths{fmt::format("delta = {:g}", delta.probability())});
  return works ? say("{}, {}.", opening, shown) : say("{}, {}. {}", opening, shown, kWeak);
}

const PolicyAudit* failing_control(const LedgerAudit& audit) {
  const Delta delta(audit.deltas.front());
  const auto found = std::find_if(
      audit.policies.begin(), audit.policies.end(),
      [&](const PolicyAudit& policy) { return policy.control && !policy.attack_works(delta); });
  return found == audit.policies.end() ? nullptr : &*found;
}

void add_control_verdict(Document& document, const LedgerAudit& audit, const PolicyAudit& control) {
  for (const ClaimCheck& check : control.claims) {
    add_claim_verdict(document, check, control.policy, true);
  }
  if (!control.claims.empty()) return;
  const Delta delta(audit.deltas.front());
  CheckedClaim verdict;
  verdict.policy = control.policy;
  verdict.claim = "the attack works";
  verdict.control = true;
  verdict.maximum = control.maximum(delta);
  if (const auto shown = control.epsilon(delta)) {
    verdict.epsilon_lower = shown->value.nats();
    verdict.confidence = shown->confidence;
  }
  document.add_verdict(std::move(verdict));
}

void state_controls(Document& document, const LedgerAudit& audit) {
  const Delta delta(audit.deltas.front());
  for (const PolicyAudit& policy : audit.policies) {
    if (!policy.control) continue;
    document.state(policy.attack_works(delta) ? StatementKind::info : StatementKind::warning,
                   control_text(audit, policy));
  }
}

}  // namespace sfumato::lab
