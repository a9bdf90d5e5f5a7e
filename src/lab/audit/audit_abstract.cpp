#include "lab/audit/audit_abstract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/audit/claims.hpp"
#include "lab/audit/controls.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/sentences.hpp"

namespace sfumato::lab {
namespace {

std::string confident(const Claimed<Epsilon>& shown) {
  return fmt::format("{} % confidence", format_confidence_percent(shown.confidence.value_or(0.0)));
}

const ClaimCheck* worst_claim(const PolicyAudit& policy) {
  const ClaimCheck* worst = nullptr;
  for (const ClaimCheck& check : policy.claims) {
    if (worst == nullptr || check.verdict() > worst->verdict()) worst = &check;
  }
  return worst;
}

/// The policy with the worst verdict, or of equal ones the one that shows most; a control only if nothing else is there, or
/// if it contradicts a proof.
const PolicyAudit& worst_policy(const LedgerAudit& audit) {
  const Delta delta(audit.deltas.front());
  const auto shown = [&](const PolicyAudit& policy) {
    const auto epsilon = policy.epsilon(delta);
    return epsilon ? epsilon->value.nats() : 0.0;
  };
  const PolicyAudit* worst = &audit.policies.front();
  for (const PolicyAudit& policy : audit.policies) {
    if (policy.verdict > worst->verdict ||
        (policy.verdict == worst->verdict && policy.control == worst->control &&
         shown(policy) > shown(*worst))) {
      worst = &policy;
    }
  }
  return *worst;
}

/// Loss on the training data, a policy each: what noise costs.
std::string cost_of(const LedgerAudit& audit) {
  std::string text;
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr || !std::isfinite(paired->losses.worst)) return {};
    text += fmt::format("{}{} {}", text.empty() ? "Largest mean training loss of a model: " : ", ",
                        policy.policy, format_number(paired->losses.worst, Rounding::up, 3));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

std::string asked_text(const std::optional<ClaimedGuarantee>& claim) {
  if (!claim) return "How much does this training reveal about one record?";
  return fmt::format("Does this training reveal more about one record than {} allows?",
                     claim_text(*claim));
}

std::string answer_text(const ClaimCheck& check, const std::string& policy) {
  const std::string about = policy.empty() ? "" : fmt::format(" for policy {}", policy);
  switch (check.outcome) {
    case ClaimOutcome::violation:
      return fmt::format(
          "The claim is false{}: with {}, seeing a model can change the odds that the record was "
          "used by a factor of {} or more (eps >= {}, claimed {:g}).",
          about, confident(check.found), odds_factor(check.found),
          format_number(check.found.value.nats(), Rounding::down), check.claim.epsilon.nats());
    case ClaimOutcome::not_enough_runs:
      return fmt::format(
          "Undecided{}: there are too few models to refute the claim, even with a perfect attack.",
          about);
    case ClaimOutcome::wrong_way:
      return fmt::format(
          "Undecided{}: the scores point the wrong way, so the claim was not tested.", about);
    case ClaimOutcome::not_refuted:
      return fmt::format(
          "Not refuted by this attack{}: it shows eps >= {}, the claim is {:g}. That does not "
          "prove "
          "the claim.",
          about, format_number(check.found.value.nats(), Rounding::down),
          check.claim.epsilon.nats());
  }
  throw InternalError("an unknown outcome of a claim");
}

std::string answer_text(const Claimed<Epsilon>& shown, double delta, const std::string& policy) {
  const std::string about = policy.empty() ? "" : fmt::format("Policy {}: ", policy);
  if (shown.value.nats() == 0.0) {
    return about + "This attack shows nothing, which does not mean that the models are private.";
  }
  return fmt::format(
      "{}With {}, seeing a model can change the odds that the record was used by a factor of {} or "
      "more (eps >= {} at delta = {:g}).",
      about, confident(shown), odds_factor(shown),
      format_number(shown.value.nats(), Rounding::down), delta);
}

std::string advice_text(const ClaimCheck* check) {
  constexpr const char* kProve =
      "Before publishing, have a proof as well: audits refute, proven bounds certify (sfumato "
      "account).";
  if (check == nullptr) return kProve;
  switch (check->outcome) {
    case ClaimOutcome::violation:
      return "Do not publish under this claim. Look for an error in clipping, noise or sampling, "
             "or "
             "claim an epsilon that is proven.";
    case ClaimOutcome::not_enough_runs:
      return check->runs_needed
                 ? fmt::format("Train at least {} models per data set, then audit again.",
                               *check->runs_needed)
                 : "Audit with more canaries or models, or a weaker claim.";
    case ClaimOutcome::wrong_way:
      return "Check which scores are those of members, then audit again.";
    case ClaimOutcome::not_refuted: return kProve;
  }
  throw InternalError("an unknown outcome of a claim");
}

namespace {

/// A trial of a pair is a model with the record and one without; where coins made the worlds it is one model.
std::string released_text(const LedgerAudit& audit) {
  const bool paired =
      std::all_of(audit.policies.begin(), audit.policies.end(), [](const PolicyAudit& policy) {
        return std::holds_alternative<PairedModels>(policy.models);
      });
  const std::string study =
      audit.study->title.empty() ? audit.ledger : fmt::format("\"{}\"", audit.study->title);
  return paired ? fmt::format(
                      "{} trained models of the study {}: {} with the record and as many "
                      "without it.",
                      2 * audit.trials, study, audit.trials)
                : fmt::format("{} trained models of the study {}.", audit.trials, study);
}

/// What is proven of the policy's epsilon at the delta of the claim.
std::optional<double> proven_epsilon(const PolicyAudit& policy, const ClaimCheck& check) {
  for (const TwoSided& of : policy.quantities()) {
    if (of.quantity != AuditedQuantity::epsilon || of.at != check.claim.delta.probability())
      continue;
    if (of.proven) return of.proven->value;
  }
  return std::nullopt;
}

std::string advice_of(const PolicyAudit& policy, const ClaimCheck* check) {
  if (check != nullptr && check->outcome == ClaimOutcome::not_refuted) {
    const auto proven = proven_epsilon(policy, *check);
    if (proven && *proven > check->claim.epsilon.nats()) {
      return fmt::format(
          "What is proven here, eps <= {}, is more than the claim: claim no less than that, or "
          "train with more noise.",
          format_number(*proven, Rounding::up));
    }
  }
  return advice_text(check);
}

}  // namespace

Abstract abstract_of(const LedgerAudit& audit) {
  const PolicyAudit& worst = worst_policy(audit);
  Abstract abstract;
  abstract.released = released_text(audit);
  abstract.asked =
      asked_text(audit.claims.empty() ? std::nullopt : std::optional(audit.claims.front()));
  const ClaimCheck* check = worst.control ? nullptr : worst_claim(worst);
  const auto shown = worst.epsilon(Delta(audit.deltas.front()));
  if (worst.control && worst.verdict == Verdict::none) {
    abstract.answer = control_text(audit, worst);
    abstract.cost = cost_of(audit);
    abstract.advice = "Nothing is claimed of a control: audit the other policies of the study.";
    return abstract;
  }
  const std::string named = audit.policies.size() == 1 ? std::string() : worst.policy;
  if (check != nullptr) {
    abstract.answer = answer_text(*check, named);
  } else if (shown) {
    abstract.answer = answer_text(*shown, audit.deltas.front(), named);
  }
  abstract.cost = cost_of(audit);
  abstract.advice = advice_of(worst, check);
  for (const PolicyAudit& policy : audit.policies) {
    const Delta delta(audit.deltas.front());
    if (!policy.control || !policy.attack_works(delta)) continue;
    abstract.answer += fmt::format(" On the control {} the attack works.", policy.policy);
  }
  const PolicyAudit* failing = failing_control(audit);
  if (failing == nullptr) return abstract;
  abstract.answer +=
      fmt::format(" But on the control {} the attack does not work either.", failing->policy);
  if (worst.verdict != Verdict::violated) {
    abstract.advice =
        "Make the attack stronger before you believe this audit: another score, a record that is "
        "easier to detect, or more models.";
  }
  return abstract;
}

}  // namespace sfumato::lab
