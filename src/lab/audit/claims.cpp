#include "lab/audit/claims.hpp"

#include <fmt/format.h>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

std::string needed_text(const ClaimCheck& check) {
  if (check.evidence == ClaimEvidence::canaries) return "Use more canaries or guesses.";
  if (!check.runs_needed) return "No feasible number of models would be enough.";
  if (check.evidence == ClaimEvidence::shadow_models) {
    return fmt::format(
        "About {} shadow models are needed: half of them to fit the attack, and the record is in "
        "half of the rest.",
        4 * *check.runs_needed);
  }
  return fmt::format("At least {} models per data set are needed.", *check.runs_needed);
}

std::string shown_epsilon(const Claimed<Epsilon>& shown) {
  return fmt::format("eps >= {} with confidence {} %",
                     format_number(shown.value.nats(), Rounding::down),
                     format_confidence_percent(shown.confidence.value_or(0.0)));
}

std::string of_policy(const std::string& policy) {
  return policy.empty() ? "" : fmt::format(" (policy {})", policy);
}

std::string sentence(const ClaimCheck& check, const std::string& policy, Detail detail) {
  const std::string what = outcome_text(check.outcome);
  const std::string claim = claim_text(check.claim) + of_policy(policy);
  const std::string maximum =
      fmt::format("maximum auditable epsilon {}", format_number(check.maximum));
  switch (check.outcome) {
    case ClaimOutcome::violation:
      return fmt::format("{} of {}: these models show {} ({}).", what, claim,
                         shown_epsilon(check.found), maximum);
    case ClaimOutcome::not_enough_runs:
      return fmt::format("{} to check {}: not even a perfect attack could refute it ({}). {}", what,
                         claim, maximum, needed_text(check));
    case ClaimOutcome::wrong_way:
      return fmt::format(
          "{}: {} was not tested because non-members score higher than members. {}", what, claim,
          policy.empty() ? "If smaller scores mean members, add --larger-means nonmember; if not, "
                           "check that the files were not swapped."
                         : "Try another score.");
    case ClaimOutcome::not_refuted:
      return fmt::format("{}: {}. These models show {} ({}).{}", what, claim,
                         shown_epsilon(check.found), maximum,
                         detail == Detail::brief
                             ? ""
                             : " This does not prove the claim: a better attack or another pair "
                               "of data sets may show more.");
  }
  throw InternalError("an unknown outcome of a claim");
}

}  // namespace

std::string claim_text(const ClaimedGuarantee& claim) {
  return fmt::format("eps = {:g}, delta = {:g}", claim.epsilon.nats(), claim.delta.probability());
}

std::string outcome_text(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::violation: return "VIOLATION";
    case ClaimOutcome::not_enough_runs: return "NOT ENOUGH RUNS";
    case ClaimOutcome::wrong_way: return "OPEN";
    case ClaimOutcome::not_refuted: return "NOT REFUTED";
  }
  throw InternalError("an unknown outcome of a claim");
}

Outcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::none:
    case Verdict::not_refuted: return Outcome::none;  // which is neither good nor bad news
    case Verdict::holds: return Outcome::good;
    case Verdict::open: return Outcome::open;
    case Verdict::violated: return Outcome::bad;
  }
  throw InternalError("an unknown verdict");
}

void state_claim(Document& document, const ClaimCheck& check, const std::string& policy,
                 Detail detail) {
  document.state(StatementKind::verdict, sentence(check, policy, detail),
                 outcome_of(check.verdict()));
}

void add_claim_verdict(Document& document, const ClaimCheck& check, const std::string& policy,
                       bool control) {
  document.add_verdict({policy, guarantee_text(check.claim),
                        control ? Verdict::none : check.verdict(), check.found.value.nats(),
                        check.maximum, check.found.confidence, control});
}

std::string quantity_text(AuditedQuantity quantity, double at) {
  switch (quantity) {
    case AuditedQuantity::epsilon: return fmt::format("eps at delta = {:g}", at);
    case AuditedQuantity::delta: return fmt::format("delta at eps = {:g}", at);
    case AuditedQuantity::mu: return "mu";
  }
  throw InternalError("an unknown quantity");
}

void state_contradiction(Document& document, const TwoSided& of, const std::string& policy,
                         double confidence) {
  document.state(
      StatementKind::verdict,
      fmt::format(
          "VIOLATION of a proven bound{}: the models show {} >= {} with confidence {} %, but {} "
          "{} is proven. One of them is wrong: a bug, data or training that differ from the "
          "study, a false proof, or bad luck (probability {:.2g}).",
          of_policy(policy), quantity_text(of.quantity, of.at),
          format_number(of.shown.value, Rounding::down), format_confidence_percent(confidence),
          symbol(of.proven->claim), format_number(of.proven->value, Rounding::up),
          1.0 - confidence),
      Outcome::bad);
}

void add_contradiction_verdict(Document& document, const TwoSided& of, const std::string& policy,
                               double confidence) {
  CheckedClaim verdict{policy,
                       fmt::format("proven: {} {} {}", quantity_text(of.quantity, of.at),
                                   symbol(of.proven->claim), of.proven->value),
                       Verdict::violated,
                       {},
                       of.maximum,
                       confidence};
  if (of.quantity == AuditedQuantity::epsilon) verdict.epsilon_lower = of.shown.value;
  document.add_verdict(std::move(verdict));
}

std::string shown_text(const Claimed<Epsilon>& shown, double maximum, Delta delta,
                       const std::string& policy) {
  return fmt::format("These models{} show {} at delta = {:g} (maximum auditable epsilon {}).",
                     of_policy(policy), shown_epsilon(shown), delta.probability(),
                     format_number(maximum));
}

}  // namespace sfumato::lab
