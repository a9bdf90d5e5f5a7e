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

constexpr int kFewDigits = 3;

Text confident(const Claimed<Epsilon>& shown) {
  return say("{} confidence", Percent{format_confidence_percent(shown.confidence.value_or(0.0))});
}

/// "eps >= 1.21".
Text at_least(const Claimed<Epsilon>& shown) {
  return say("{} {}", Maths{"eps >="}, ClaimedNumber{{shown.value.nats(), Claim::lower_bound}});
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

/// "a, b, c": measured values, which no sentence joins.
Text joined_by(const std::vector<Text>& items) {
  Text text;
  for (const Text& item : items) text += text.empty() ? item : say(", {}", item);
  return text;
}

/// Loss on the training data, a policy each: what noise costs.
Text cost_of(const LedgerAudit& audit) {
  std::vector<Text> losses;
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr || !std::isfinite(paired->losses.worst)) return {};
    losses.push_back(
        say("{} {}", policy.policy,
            ClaimedNumber{
                {paired->losses.worst, Claim::upper_bound}, NumberStyle::general, kFewDigits}));
  }
  if (losses.empty()) return {};
  return say("Largest mean training loss of a model: {}.", joined_by(losses));
}

}  // namespace

Text asked_text(const std::optional<ClaimedGuarantee>& claim) {
  if (!claim) return "How much does this training reveal about one record?";
  return say("Does this training reveal more about one record than {} allows?", claim_said(*claim));
}

Text answer_text(const ClaimCheck& check, const std::string& policy) {
  const Text about = policy.empty() ? Text() : say(" for policy {}", policy);
  const std::string claimed = fmt::format("{:g}", check.claim.epsilon.nats());
  switch (check.outcome) {
    case ClaimOutcome::violation:
      return say(
          "The claim is false{}: with {}, seeing a model can change the odds that the record was "
          "used by a factor of {} or more ({}, claimed {}).",
          about, confident(check.found), odds_factor(check.found), at_least(check.found), claimed);
    case ClaimOutcome::not_enough_runs:
      return say(
          "Undecided{}: there are too few models to refute the claim, even with a perfect attack.",
          about);
    case ClaimOutcome::wrong_way:
      return say("Undecided{}: the scores point the wrong way, so the claim was not tested.",
                 about);
    case ClaimOutcome::not_refuted:
      return say(
          "Not refuted by this attack{}: it shows {}, the claim is {}. That does not prove the "
          "claim.",
          about, at_least(check.found), claimed);
  }
  throw InternalError("an unknown outcome of a claim");
}

Text answer_text(const Claimed<Epsilon>& shown, double delta, const std::string& policy) {
  const Text about = policy.empty() ? Text() : say("Policy {}: ", policy);
  if (shown.value.nats() == 0.0) {
    return say("{}This attack shows nothing, which does not mean that the models are private.",
               about);
  }
  return say(
      "{}With {}, seeing a model can change the odds that the record was used by a factor of {} or "
      "more ({} at {}).",
      about, confident(shown), odds_factor(shown), at_least(shown),
      Maths{fmt::format("delta = {:g}", delta)});
}

Text advice_text(const ClaimCheck* check) {
  constexpr const char* kProve =
      "Before publishing, have a proof as well: audits refute, proven bounds certify (sfumato "
      "account).";
  if (check == nullptr) return kProve;
  switch (check->outcome) {
    case ClaimOutcome::violation:
      return "Do not publish under this claim. Look for an error in clipping, noise or sampling, "
             "or claim an epsilon that is proven.";
    case ClaimOutcome::not_enough_runs:
      return check->runs_needed ? say("Train at least {} models per data set, then audit again.",
                                      *check->runs_needed)
                                : Text("Audit with more canaries or models, or a weaker claim.");
    case ClaimOutcome::wrong_way:
      return "Check which scores are those of members, then audit again.";
    case ClaimOutcome::not_refuted: return kProve;
  }
  throw InternalError("an unknown outcome of a claim");
}

namespace {

/// A trial of a pair is a model with the record and one without; where coins made the worlds it is one model.
Text released_text(const LedgerAudit& audit) {
  const bool paired =
      std::all_of(audit.policies.begin(), audit.policies.end(), [](const PolicyAudit& policy) {
        return std::holds_alternative<PairedModels>(policy.models);
      });
  const Text study =
      audit.study->title.empty() ? Text(audit.ledger) : say("\"{}\"", audit.study->title);
  return paired ? say("{} trained models of the study {}: {} with the record and as many without "
                      "it.",
                      2 * audit.trials, study, audit.trials)
                : say("{} trained models of the study {}.", audit.trials, study);
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

Text advice_of(const PolicyAudit& policy, const ClaimCheck* check) {
  if (check != nullptr && check->outcome == ClaimOutcome::not_refuted) {
    const auto proven = proven_epsilon(policy, *check);
    if (proven && *proven > check->claim.epsilon.nats()) {
      return say(
          "What is proven here, {} {}, is more than the claim: claim no less than that, or train "
          "with more noise.",
          Maths{"eps <="}, ClaimedNumber{{*proven, Claim::upper_bound}});
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
    abstract.answer += say(" On the control {} the attack works.", policy.policy);
  }
  const PolicyAudit* failing = failing_control(audit);
  if (failing == nullptr) return abstract;
  abstract.answer +=
      say(" But on the control {} the attack does not work either.", failing->policy);
  if (worst.verdict != Verdict::violated) {
    abstract.advice =
        "Make the attack stronger before you believe this audit: another score, a record that is "
        "easier to detect, or more models.";
  }
  return abstract;
}

}  // namespace sfumato::lab
