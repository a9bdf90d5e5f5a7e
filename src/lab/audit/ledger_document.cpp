#include "lab/audit/ledger_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/audit/audit_abstract.hpp"
#include "lab/audit/claims.hpp"
#include "lab/audit/controls.hpp"
#include "lab/audit/evidence_tables.hpp"
#include "lab/audit/ledger_tables.hpp"
#include "lab/audit/two_sided_figures.hpp"
#include "lab/study/spec/study.hpp"
#include "lab/study/study_keys.hpp"
#include "sfumato/audit/attack_figures.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kMostSentences =
    3;  // verdicts in words; more are counted, and are in a table
constexpr std::size_t kMostRows = 10;

struct PolicyClaim {
  const std::string* policy;
  const ClaimCheck* check;
};

/// The worst first.
std::vector<PolicyClaim> claims_of(const LedgerAudit& audit) {
  std::vector<PolicyClaim> claims;
  for (const PolicyAudit& policy : audit.policies) {
    if (policy.control) continue;
    for (const ClaimCheck& check : policy.claims) claims.push_back({&policy.policy, &check});
  }
  std::stable_sort(claims.begin(), claims.end(), [](const PolicyClaim& a, const PolicyClaim& b) {
    return a.check->verdict() > b.check->verdict();
  });
  return claims;
}

void state_left_out(Document& document, std::size_t rows) {
  if (rows <= kMostRows) return;
  document.state(StatementKind::info, say("{} more rows with {}.", rows - kMostRows, More::all));
}

void add_claims(Document& document, const std::vector<PolicyClaim>& claims) {
  const std::vector<PolicyClaim> rows(
      claims.begin(),
      claims.begin() + static_cast<std::ptrdiff_t>(std::min(kMostRows, claims.size())));
  using Row = PolicyClaim;
  document.add(
      table_of("claims", "Claims",
               bare_fields<Row>(
                   {{.key = "policy",
                     .title = "policy",
                     .of = [](const Row& row) { return Cell(*row.policy); }},
                    {.key = "claim",
                     .title = "claim",
                     .of = [](const Row& row) { return Cell(guarantee_text(row.check->claim)); }},
                    {.key = "outcome",
                     .title = "outcome",
                     .of = [](const Row& row) { return Cell(outcome_text(row.check->outcome)); }},
                    {.key = "shown",
                     .title = "shown eps",
                     .of = [](const Row& row) { return Cell(row.check->found); }},
                    {.key = "maximum",
                     .title = "maximum",
                     .of = [](const Row& row) { return Cell(maximum_cell(row.check->maximum)); }}}),
               rows, 2));
  state_left_out(document, claims.size());
}

void state_claims(Document& document, const std::vector<PolicyClaim>& claims) {
  if (claims.size() <= kMostSentences) {
    for (const PolicyClaim& of : claims)
      state_claim(document, *of.check, *of.policy, Detail::brief);
    return;
  }
  const auto count = [&](Verdict verdict) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const PolicyClaim& of) { return of.check->verdict() == verdict; });
  };
  const Verdict worst = claims.front().check->verdict();
  const char* word = worst == Verdict::violated ? "VIOLATION"
                     : worst == Verdict::open   ? "OPEN"
                                                : "NOT REFUTED";
  document.state(StatementKind::verdict,
                 say("{}: of {} claims, {} are violated, {} undecided and {} not refuted.",
                     VerdictWord{word}, claims.size(), count(Verdict::violated),
                     count(Verdict::open), count(Verdict::not_refuted)),
                 outcome_of(worst));
  add_claims(document, claims);
}

/// What a policy shows at the audit's first delta, from both sides where the other is known.
void add_policies(Document& document, const LedgerAudit& audit) {
  document.add(brief_sides_table(audit, kMostRows));
  state_left_out(document, audit.policies.size());
}

/// The answer in brief: the verdicts (of many the number, the worst first in the table), what each policy
/// shows, and the warnings that matter to it.
void add_brief(Document& document, const LedgerAudit& audit) {
  for (const PolicyAudit& policy : audit.policies) {
    const std::span<const TwoSided> sides = policy.quantities();
    const auto contradiction = std::find_if(
        sides.begin(), sides.end(), [](const TwoSided& of) { return of.contradicts_proof(); });
    if (contradiction == sides.end()) continue;
    state_contradiction(document, *contradiction, policy.policy, audit.options.confidence);
  }
  const std::vector<PolicyClaim> claims = claims_of(audit);
  if (!claims.empty()) state_claims(document, claims);
  state_controls(document, audit);
  if (audit.verdict == Verdict::none && audit.policies.size() == 1 &&
      !audit.policies.front().control) {
    const PolicyAudit& only = audit.policies.front();
    const Delta delta(audit.deltas.front());
    if (const auto shown = only.epsilon(delta)) {
      document.state(StatementKind::info,
                     shown_text(*shown, only.maximum(delta).value(), delta, only.policy));
    }
  }
  if (claims.size() <= kMostSentences) add_policies(document, audit);
}

constexpr const char* kAnotherScore = "Try another score.";

Text sampling_text(const Study& study) {
  if (study.model.kind != ModelKind::network) return "every step uses all records";
  const auto size = study.train.batch_size;
  switch (study.train.batches) {
    case BatchScheme::shuffled:
      return say("batches of {}, reshuffled every epoch and kept secret", size);
    case BatchScheme::shuffled_all:
      return say(
          "batches of {}, the last of an epoch shorter, reshuffled every epoch and kept secret",
          size);
    case BatchScheme::with_replacement:
      return say("batches of {} drawn with replacement and kept secret", size);
    case BatchScheme::poisson: return say("Poisson batches of {} on average, kept secret", size);
    case BatchScheme::fixed_size:
      return say("batches of {} different records, drawn afresh every step and kept secret", size);
    case BatchScheme::full: return "every step uses all records";
  }
  throw InternalError("an unknown way to draw batches");
}

Text replicas_text(const AuditSpec& audit) {
  return audit.random_pairs
             ? say("{} replicas, each of a random pair", audit.pairs * audit.replicas)
             : say("{} replicas of {} {}", audit.replicas, audit.pairs,
                   audit.pairs == 1 ? "pair" : "pairs");
}

Text worlds_text(const AuditSpec& audit) {
  if (!audit.coupled) return "independent";
  if (audit.share.all()) return "coupled (same seeds)";
  std::vector<Text> shared;
  if (audit.share.init) shared.emplace_back("initial weights");
  if (audit.share.batches) shared.emplace_back("batches");
  if (audit.share.noise) shared.emplace_back("noise");
  return say("coupled in their {} alone", listed(shared));
}

Text pairs_text(const LedgerAudit& audit, Detail detail) {
  const AuditSpec& spec = audit.study->audit;
  if (detail == Detail::brief) {
    return say("{}, score {}, thresholds {}", replicas_text(spec), audit.score,
               name(audit.options.strategy));
  }
  return say(
      "Sampling: {}. Runs: {}; a replica is a model of D and one of {} for each policy, which "
      "{}. Score {}, thresholds {}. The numbers cover one release at the end of training: not "
      "checkpoints, logs, or choices made by looking at the data",
      sampling_text(*audit.study), replicas_text(spec), Maths{"D'"}, worlds_text(spec), audit.score,
      name(audit.options.strategy));
}

Text canaries_text(const Study& study, Detail detail) {
  const AuditSpec& spec = study.audit;
  const Text coins =
      say("{} canaries{}, each included by a fair coin flip in each of {} {} per policy",
          spec.canaries, study.adjacency.canary ? " with a wrong label" : "", spec.replicas,
          spec.replicas == 1 ? "model" : "models");
  if (detail == Detail::brief) return coins;
  return say(
      "{}; the significance level is divided among models and policies. Canaries stand for records "
      "that are easy to detect: others may show more or less",
      coins);
}

AuditScope scope_of(const LedgerAudit& audit, Detail detail) {
  const Study& study = *audit.study;
  AuditScope scope;
  scope.worlds = study.model.kind == ModelKind::quadratic    ? WorldsDiffer::in_their_losses
                 : study.adjacency.kind == Adjacency::remove ? WorldsDiffer::by_a_removed_record
                                                             : WorldsDiffer::by_a_replaced_record;
  scope.access = audit.access;
  scope.runs = study.audit.canaries != 0 ? canaries_text(study, detail)
               : study.audit.worlds() == 1
                   ? say("{} shadow models per policy, each with every record of D included by a "
                         "fair coin flip",
                         study.audit.shadow_models)
                   : pairs_text(audit, detail);
  return scope;
}

void state_look(Document& document, const LedgerAudit& audit) {
  if (audit.trials < audit.planned) {
    document.state(StatementKind::warning,
                   say("{} of {} trials are done. This is interim look {} at a growing ledger; "
                       "the significance level is split over the interim looks.",
                       audit.trials, audit.planned, audit.look.number));
  } else if (audit.look.number > 1) {
    document.state(StatementKind::info,
                   say("This is interim look {} at the ledger; the significance level is split "
                       "over the interim looks.",
                       audit.look.number));
  }
}

void state_fallback(Document& document, const LedgerAudit& audit) {
  if (!audit.fallback) return;
  document.state(StatementKind::info,
                 say("The score is {}: models of the policy \"{}\" have no `{}`.", audit.score,
                     audit.fallback->policy, audit.fallback->wanted));
}

/// Models that are left out, and what that means for the numbers.
void state_left_out(Document& document, const PolicyAudit& of) {
  const auto* paired = std::get_if<PairedModels>(&of.models);
  if (paired == nullptr) {
    if (of.diverged + of.failed == 0) return;
    document.state(StatementKind::warning,
                   say("{}: {} models diverged and {} trials failed; they are excluded.", of.policy,
                       of.diverged, of.failed));
    return;
  }
  if (of.failed != 0) {
    document.state(StatementKind::warning,
                   say("{}: {} trials failed and are excluded. The bounds assume that "
                       "failures do not depend on whether the record was used.",
                       GivenName{of.policy}, of.failed));
  }
  if (paired->path_kl.risk && of.diverged != 0) {
    document.state(StatementKind::warning, say("{}: the path KL excludes {} trials that diverged.",
                                               GivenName{of.policy}, of.diverged));
  }
}

void state_infinite(Document& document, const std::string& policy, const InfinitePaths& paths) {
  if (paths.infinite.d + paths.infinite.d_prime == 0) return;
  document.state(
      StatementKind::warning,
      say("{}: the path KL is infinite in {} of {} runs along D and {} of {} along {}: in some "
          "step "
          "a parameter got noise on D or {} only, or moved without any{}.",
          GivenName{policy}, paths.infinite.d, paths.runs.d, paths.infinite.d_prime,
          paths.runs.d_prime, Maths{"D'"}, Maths{"D'"},
          paths.parameters.empty() ? std::string()
                                   : fmt::format(" ({}, ...)", fmt::join(paths.parameters, ", "))));
}

std::vector<NamedAttack> attacks_of(const LedgerAudit& audit) {
  std::vector<NamedAttack> attacks;
  for (const PolicyAudit& policy : audit.policies) {
    if (const auto* paired = std::get_if<PairedModels>(&policy.models)) {
      attacks.push_back({policy.policy, paired->scores});
    } else if (const auto* canaries = std::get_if<CanaryModels>(&policy.models)) {
      attacks.push_back({policy.policy, canaries->scores});
    } else {
      for (NamedAttack attack : std::get<ShadowModels>(policy.models).attacks) {
        attack.name = fmt::format("{}, {}", policy.policy, attack.name);
        attacks.push_back(std::move(attack));
      }
    }
  }
  return attacks;
}

std::vector<NamedAudit> audits_of(const LedgerAudit& audit) {
  std::vector<NamedAudit> audits;
  for (const PolicyAudit& policy : audit.policies) {
    if (const auto* paired = std::get_if<PairedModels>(&policy.models)) {
      audits.push_back({audit.policies.size() > 1 ? policy.policy : "", &paired->audit});
    }
  }
  return audits;
}

void add_pairs(Document& document, const LedgerAudit& audit) {
  add_two_sided_table(document, audit);
  add_two_sided_figures(document, audit);
  for (const PolicyAudit& policy : audit.policies) {
    state_infinite(document, policy.policy, std::get<PairedModels>(policy.models).infinite);
  }
  if (audit.policies.size() == 1) {
    add_bounds(document, std::get<PairedModels>(audit.policies.front().models).audit,
               {audit.deltas, audit.epsilons, !audit.study->audit.coupled});
  }
  add_losses(document, audit);
}

void add_results(Document& document, const LedgerAudit& audit) {
  for (const PolicyAudit& policy : audit.policies) {
    add_policy_results(document, audit, policy);
    for (const TwoSided& quantity : policy.quantities()) {
      if (!quantity.contradicts_proof()) continue;
      add_contradiction_verdict(document, quantity, policy.policy, audit.options.confidence);
    }
    if (policy.control) {
      add_control_verdict(document, audit, policy);
      continue;
    }
    for (const ClaimCheck& check : policy.claims) {
      add_claim_verdict(document, check, policy.policy);
    }
  }
}

/// All verdicts: proofs that are contradicted, then claims, then whether the attack works on the controls.
void state_verdicts(Document& document, const LedgerAudit& audit) {
  for (const PolicyAudit& policy : audit.policies) {
    for (const TwoSided& quantity : policy.quantities()) {
      if (!quantity.contradicts_proof()) continue;
      state_contradiction(document, quantity, policy.policy, audit.options.confidence);
    }
  }
  for (const PolicyAudit& policy : audit.policies) {
    if (policy.control) continue;
    for (const ClaimCheck& check : policy.claims) {
      state_claim(document, check, policy.policy, Detail::full);
    }
  }
  state_controls(document, audit);
}

void add_everything(Document& document, const LedgerAudit& audit) {
  state_verdicts(document, audit);
  state_look(document, audit);
  state_fallback(document, audit);
  for (const PolicyAudit& policy : audit.policies) state_left_out(document, policy);
  if (audit.study->audit.canaries != 0) {
    add_canaries(document, audit);
  } else if (audit.study->audit.worlds() == 1) {
    add_shadows(document, audit);
  } else {
    add_pairs(document, audit);
  }
  const std::vector<NamedAttack> attacks = attacks_of(audit);
  add_membership(document, attacks, audit.options.confidence, kAnotherScore);
  document.add(roc_figure(attacks, audit.options.confidence,
                          audit.claims.empty() ? std::nullopt : std::optional(audit.claims.front()),
                          audits_of(audit)));
}

}  // namespace

Document document_of(const LedgerAudit& audit, Detail detail) {
  Document document =
      new_document("audit", audit.study->title.empty() ? "Audit of " + audit.ledger
                                                       : "Audit: " + audit.study->title);
  add_results(document, audit);
  if (detail == Detail::brief) {
    add_brief(document, audit);
    state_look(document, audit);
    state_fallback(document, audit);
    for (const PolicyAudit& policy : audit.policies) state_left_out(document, policy);
    state_scope(document, scope_of(audit, detail), detail);
    document.state(StatementKind::warning, seed_notice(audit.study->train.seed));
    state_how_to_see_more(document);
    return document;
  }
  document.set_abstract(abstract_of(audit));
  add_everything(document, audit);
  state_scope(document, scope_of(audit, detail), detail);
  document.state(StatementKind::warning, seed_notice(audit.study->train.seed));
  document.add_provenance("ledger", audit.ledger);
  document.add_provenance("instruction set", audit.identity.instruction_set);
  for (const auto& [name, digest] : audit.identity.checksums) {
    document.add_provenance("data " + name, digest);
  }
  document.add_provenance("seed", fmt::format("{}", audit.options.seed));
  return document;
}

}  // namespace sfumato::lab
