#include "sfumato/audit/claim_check.hpp"

namespace sfumato {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::violation: return "VIOLATION";
    case Verdict::not_enough_runs: return "NOT ENOUGH RUNS";
    case Verdict::not_refuted: return "PASS (not refuted)";
  }
  throw InternalError("unknown verdict");
}

ClaimCheck check_claim(const Audit& audit, Epsilon epsilon, Delta delta) {
  ClaimCheck check{Verdict::not_refuted, audit.epsilon(delta), audit.epsilon_cap(delta),
                   audit.runs_to_refute(epsilon, delta)};
  if (check.found.value > epsilon) {
    check.verdict = Verdict::violation;
  } else if (!(check.cap > epsilon.nats())) {
    check.verdict = Verdict::not_enough_runs;
  }
  return check;
}

}  // namespace sfumato
