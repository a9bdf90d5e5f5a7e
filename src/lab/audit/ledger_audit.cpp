#include "sfumato/lab/audit/ledger_audit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/audit/audit_keys.hpp"
#include "lab/audit/looks.hpp"
#include "lab/audit/parts.hpp"
#include "lab/study/ledger_study.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/core/suggest.hpp"

namespace sfumato::lab {
namespace {

std::vector<std::size_t> chosen_policies(const Study& study, const std::string& name) {
  std::vector<std::size_t> chosen;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < study.noise.size(); ++p) {
    names.push_back(study.noise[p].name);
    if (name.empty() || name == names.back()) chosen.push_back(p);
  }
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format("the study has no noise policy \"{}\"", name),
                          suggestion(name, names, "policies"), Where::key("policy"));
  }
  return chosen;
}

/// Which look this is, recorded in the ledger; a number that is given can make it a later one, and is needed
/// where the ledger cannot be written.
void settle_look(LedgerAudit& audit, const Ledger& ledger, std::optional<std::uint64_t> given) {
  for (const auto& [status, count] : ledger.counts()) audit.trials += count;
  const AuditSpec& spec = audit.study->audit;
  audit.planned = std::uint64_t{spec.pairs} * spec.replicas * audit.study->noise.size();
  audit.look = look_at(ledger.looks(), audit.trials, audit.planned, given.value_or(1));
  audit.options.look = audit.look.number;
  audit.options.more_looks = audit.look.splits;
  if (!audit.look.is_new || audit.trials == 0) return;
  try {
    ledger.record_look(audit.look.number, audit.trials);
  } catch (const StorageError& error) {
    if (given) return;
    throw InvalidArgument(
        fmt::format("interim look {} cannot be recorded: {}", audit.look.number, error.what()),
        fmt::format(
            "Audit a copy (`sfumato study copy {} NEW`), or keep count of the interim looks "
            "yourself: set `look` to {}",
            ledger.path(), audit.look.number),
        Where::in(ledger.path()));
  }
}

bool contradicts_proof(const PolicyAudit& policy) {
  for (const TwoSided& quantity : policy.quantities()) {
    if (quantity.contradicts_proof()) return true;
  }
  return false;
}

bool is_control(const Study& study, const std::string& policy) {
  return std::any_of(study.noise.begin(), study.noise.end(),
                     [&](const NoiseSpec& noise) { return noise.name == policy && noise.control; });
}

}  // namespace

std::optional<Claimed<Epsilon>> PolicyAudit::epsilon(Delta delta) const {
  using Found = std::optional<Claimed<Epsilon>>;
  return std::visit(
      Overloaded{[&](const PairedModels& of) -> Found { return of.audit.epsilon(delta); },
                 [&](const CanaryModels& of) -> Found {
                   return best_replica(of.replicas, delta).epsilon(delta);
                 },
                 [&](const ShadowModels& of) -> Found {
                   if (!of.audit) return std::nullopt;
                   return of.audit->epsilon(delta);
                 }},
      models);
}

std::optional<double> PolicyAudit::maximum(Delta delta) const {
  using Found = std::optional<double>;
  return std::visit(
      Overloaded{[&](const PairedModels& of) -> Found { return of.audit.maximum_epsilon(delta); },
                 [&](const CanaryModels& of) -> Found {
                   return best_replica(of.replicas, delta).maximum_epsilon(delta);
                 },
                 [&](const ShadowModels& of) -> Found {
                   if (!of.audit) return std::nullopt;
                   return of.audit->maximum_epsilon(delta);
                 }},
      models);
}

std::span<const TwoSided> PolicyAudit::quantities() const {
  if (const auto* paired = std::get_if<PairedModels>(&models)) return paired->quantities;
  if (const auto* canaries = std::get_if<CanaryModels>(&models)) return canaries->quantities;
  return {};
}

bool PolicyAudit::attack_works(Delta delta) const {
  if (!claims.empty()) {
    return std::all_of(claims.begin(), claims.end(), [](const ClaimCheck& check) {
      return check.outcome == ClaimOutcome::violation;
    });
  }
  const std::optional<Claimed<Epsilon>> shown = epsilon(delta);
  return shown && shown->value.nats() > 0.0;
}

LedgerAudit audit(const Ledger& ledger, const LedgerAuditOptions& options) {
  check(options);
  LedgerAudit audit{ledger.path(), ledger.identity(),
                    std::make_shared<const Study>(study_of(ledger))};
  const AuditSpec& spec = audit.study->audit;
  const std::vector<std::size_t> chosen = chosen_policies(*audit.study, options.policy);
  const bool coins = spec.worlds() == 1;
  if (coins && !options.score.empty()) {
    throw InvalidArgument(
        "canaries and shadow models have one score: the margin, or for gradient "
        "canaries what steps moved along them",
        "", Where::key("score"));
  }
  if (options.guesses && spec.canaries == 0) {
    throw InvalidArgument("is for canaries (audit.canaries)", "", Where::key("guesses"));
  }
  audit.deltas = options.deltas.empty() ? std::vector{spec.delta} : without_repeats(options.deltas);
  audit.epsilons = options.epsilons.empty() ? spec.epsilons : without_repeats(options.epsilons);
  audit.claims = options.claim ? std::vector{*options.claim} : spec.claims;
  audit.options = audit_options(options, spec.confidence, Delta(audit.deltas.front()));
  audit.options.audits = chosen.size();
  settle_look(audit, ledger, options.look);
  if (spec.canaries != 0) {
    if (audit.study->train.gradient_canary) audit.access = ScoreAccess::weights;
    audit_canaries(audit, ledger, chosen, options);
  } else if (coins) {
    audit_shadows(audit, ledger, chosen);
  } else {
    audit_pairs(audit, ledger, chosen, options);
  }
  for (PolicyAudit& policy : audit.policies) {
    policy.control = is_control(*audit.study, policy.policy);
    if (!policy.control) policy.verdict = worst_of(policy.claims);
    // A proof is about every policy: what contradicts it is a mistake there too.
    if (contradicts_proof(policy)) policy.verdict = Verdict::violated;
    audit.verdict = worst(audit.verdict, policy.verdict);
  }
  std::stable_partition(audit.policies.begin(), audit.policies.end(),
                        [](const PolicyAudit& policy) { return !policy.control; });
  return audit;
}

}  // namespace sfumato::lab
