#include "lab/audit/claims.hpp"

#include <fmt/format.h>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

Text needed_text(const ClaimCheck& check) {
  if (check.evidence == ClaimEvidence::canaries) return "Use more canaries or guesses.";
  if (!check.runs_needed) return "No feasible number of models would be enough.";
  if (check.evidence == ClaimEvidence::shadow_models) {
    return say(
        "About {} shadow models are needed: half of them to fit the attack, and the record is in "
        "half of the rest.",
        4 * *check.runs_needed);
  }
  return say("At least {} models per data set are needed.", *check.runs_needed);
}

Text of_policy(const std::string& policy) {
  return policy.empty() ? Text() : say(" (policy {})", policy);
}

Text maximum_text(double maximum) {
  return say("maximum auditable epsilon {}", ClaimedNumber{{maximum, Claim::exact}});
}

Text wrong_way_advice(const std::string& policy) {
  return policy.empty() ? say("If smaller scores mean members, add {}; if not, check that the "
                              "files were not swapped.",
                              larger_means_nonmember())
                        : Text("Try another score.");
}

Text sentence(const ClaimCheck& check, const std::string& policy, Detail detail) {
  const VerdictWord what{outcome_text(check.outcome)};
  const Text claim = say("{}{}", claim_said(check.claim), of_policy(policy));
  const Text maximum = maximum_text(check.maximum);
  switch (check.outcome) {
    case ClaimOutcome::violation:
      return say("{} of {}: these models show {} ({}).", what, claim, confident_text(check.found),
                 maximum);
    case ClaimOutcome::not_enough_runs:
      return say("{} to check {}: not even a perfect attack could refute it ({}). {}", what, claim,
                 maximum, needed_text(check));
    case ClaimOutcome::wrong_way:
      return say("{}: {} was not tested because non-members score higher than members. {}", what,
                 claim, wrong_way_advice(policy));
    case ClaimOutcome::not_refuted:
      return say("{}: {}. These models show {} ({}).{}", what, claim, confident_text(check.found),
                 maximum,
                 detail == Detail::brief
                     ? ""
                     : " This does not prove the claim: a better attack or another pair of data "
                       "sets may show more.");
  }
  throw InternalError("an unknown outcome of a claim");
}

}  // namespace

std::string claim_text(const ClaimedGuarantee& claim) {
  return fmt::format("eps = {:g}, delta = {:g}", claim.epsilon.nats(), claim.delta.probability());
}

Maths claim_said(const ClaimedGuarantee& claim) { return {claim_text(claim)}; }

Text confident_text(const Claimed<Epsilon>& shown) {
  return say("{} {} with confidence {}", Maths{"eps >="},
             ClaimedNumber{{shown.value.nats(), Claim::lower_bound}},
             Percent{format_confidence_percent(shown.confidence.value_or(0.0))});
}

Text shown_with_maximum(const Claimed<Epsilon>& shown, double maximum) {
  return say("{} ({})", confident_text(shown), maximum_text(maximum));
}

Text larger_means_nonmember() { return say("{} nonmember", KeyName{"larger_means"}); }

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

std::string_view name(AuditedQuantity quantity) {
  switch (quantity) {
    case AuditedQuantity::epsilon: return "epsilon";
    case AuditedQuantity::delta: return "delta";
    case AuditedQuantity::mu: return "mu";
  }
  throw InternalError("an unknown quantity");
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
      say("{} of a proven bound{}: the models show {} {} {} with confidence {}, but {} {} is "
          "proven. One of them is wrong: a bug, data or training that differ from the study, a "
          "false proof, or bad luck (probability {}).",
          VerdictWord{"VIOLATION"}, of_policy(policy), Maths{quantity_text(of.quantity, of.at)},
          Maths{">="}, ClaimedNumber{{of.shown.value, Claim::lower_bound}},
          Percent{format_confidence_percent(confidence)},
          Maths{std::string(symbol(of.proven->claim))},
          ClaimedNumber{{of.proven->value, Claim::upper_bound}},
          fmt::format("{:.2g}", 1.0 - confidence)),
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

Text shown_text(const Claimed<Epsilon>& shown, double maximum, Delta delta,
                const std::string& policy) {
  return say("These models{} show {} at {} ({}).", of_policy(policy), confident_text(shown),
             Maths{fmt::format("delta = {:g}", delta.probability())}, maximum_text(maximum));
}

}  // namespace sfumato::lab
