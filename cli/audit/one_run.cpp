#include "audit/one_run.hpp"

#include <fmt/format.h>

#include "audit/document.hpp"
#include "command.hpp"

namespace sfumato::cli {

void check_one_run(Document& document, const CanaryGuesses& guesses, const ClaimedGuarantee& claim,
                   double confidence, int& exit_code) {
  const CanaryGuesses perfect{guesses.canaries, guesses.guesses, guesses.guesses};
  ClaimCheck check{ClaimVerdict::not_refuted,
                   one_run_epsilon_lower_bound(guesses, claim.delta, confidence),
                   one_run_epsilon_lower_bound(perfect, claim.delta, confidence).value.nats(),
                   {}};
  if (check.found.value > claim.epsilon) {
    check.verdict = ClaimVerdict::violation;
    exit_code = kViolated;
  } else if (!(check.cap > claim.epsilon.nats())) {
    document.state(
        StatementKind::verdict,
        fmt::format("NOT ENOUGH RUNS to check the claim: {} right guesses of {} could not "
                    "show more than eps = {:.4f}. Use more canaries or guesses.",
                    guesses.guesses, guesses.guesses, check.cap),
        Outcome::open);
    if (exit_code == kFine) exit_code = kUndecided;
    return;
  }
  add_claim(document, check, claim);
}

void bound_one_run(Document& document, const CanaryGuesses& guesses, const AuditCommand& command,
                   int& exit_code) {
  const double confidence = 1.0 - level_of(audit_options(command));
  add_one_run(document, guesses, command.deltas, confidence);
  if (command.claim.empty()) return;
  check_one_run(document, guesses, parse_claim(command.claim), confidence, exit_code);
}

}  // namespace sfumato::cli
