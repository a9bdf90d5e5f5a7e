#include "sfumato/audit/claim_check.hpp"

namespace sfumato {

std::string_view name(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::violation: return "VIOLATION";
    case ClaimVerdict::not_enough_runs: return "NOT ENOUGH RUNS";
    case ClaimVerdict::not_refuted: return "PASS (not refuted)";
  }
  throw InternalError("unknown verdict");
}

ClaimCheck check_claim(const Audit& audit, Epsilon epsilon, Delta delta) {
  ClaimCheck check{ClaimVerdict::not_refuted, audit.epsilon(delta), audit.epsilon_cap(delta),
                   audit.runs_to_refute(epsilon, delta)};
  if (check.found.value > epsilon) {
    check.verdict = ClaimVerdict::violation;
  } else if (!(check.cap > epsilon.nats())) {
    check.verdict = ClaimVerdict::not_enough_runs;
  }
  return check;
}

}  // namespace sfumato
