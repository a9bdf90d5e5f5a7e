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

/// The number without method and confidence, which the verdicts say.
template <class T>
Claimed<T> bare(const Claimed<T>& claimed) {
  return {claimed.value, claimed.claim};
}

void state_left_out(Document& document, std::size_t rows) {
  if (rows <= kMostRows) return;
  document.state(StatementKind::info, fmt::format("{} more rows with --full.", rows - kMostRows));
}

void add_claims(Document& document, const std::vector<PolicyClaim>& claims) {
  Table table("claims", "Claims",
              {{"policy", "policy"},
               {"claim", "claim"},
               {"outcome", "outcome"},
               {"shown", "shown eps"},
               {"maximum", "maximum"}},
              2);
  for (std::size_t i = 0; i < std::min(kMostRows, claims.size()); ++i) {
    const ClaimCheck& check = *claims[i].check;
    table.add_row({*claims[i].policy, guarantee_text(check.claim), outcome_text(check.outcome),
                   bare(check.found), Claimed<double>{check.maximum, Claim::exact}});
  }
  document.add(std::move(table));
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
                 fmt::format("{}: of {} claims, {} are violated, {} undecided and {} not refuted.",
                             word, claims.size(), count(Verdict::violated), count(Verdict::open),
                             count(Verdict::not_refuted)),
                 outcome_of(worst));
  add_claims(document, claims);
}

/// What a policy shows at the audit's first delta, from both sides where the other is known.
void add_policies(Document& document, const LedgerAudit& audit) {
  const double at = audit.deltas.front();
  std::vector<const TwoSided*> sides;  // by policy; nullptr for shadow models
  bool proven = false, path_kl = false;
  for (const PolicyAudit& policy : audit.policies) {
    sides.push_back(policy.quantities().empty() ? nullptr : &policy.quantities().front());
    if (sides.back() == nullptr) continue;
    proven = proven || sides.back()->proven.has_value();
    path_kl = path_kl || sides.back()->path_kl.has_value();
  }
  std::vector<Column> columns = {{"policy", "policy"}};
  if (proven) columns.push_back({"proven", "proven"});
  if (path_kl) columns.push_back({"path_kl", "path KL"});
  columns.push_back({"audited", "these models show"});
  columns.push_back({"maximum", "maximum"});
  Table table("epsilon", quantity_text(AuditedQuantity::epsilon, at), columns);
  const auto side = [](const std::optional<Claimed<double>>& value) {
    return value ? Cell(bare(*value)) : Cell(Empty{});
  };
  for (std::size_t p = 0; p < std::min(kMostRows, audit.policies.size()); ++p) {
    const PolicyAudit& policy = audit.policies[p];
    std::vector<Cell> row = {label_of(policy)};
    if (proven) row.push_back(side(sides[p]->proven));
    if (path_kl) row.push_back(side(sides[p]->path_kl));
    const std::optional<Claimed<Epsilon>> shown = policy.epsilon(Delta(at));
    const std::optional<double> maximum = policy.maximum(Delta(at));
    row.push_back(shown ? Cell(bare(*shown)) : Cell(Empty{"the models allow no audit"}));
    row.push_back(maximum ? Cell(Claimed<double>{*maximum, Claim::exact}) : Cell(Empty{}));
    table.add_row(std::move(row));
  }
  document.add(std::move(table));
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

std::string sampling_text(const Study& study) {
  if (study.model.kind != ModelKind::network) return "every step uses all records";
  const auto size = study.train.batch_size;
  switch (study.train.batches) {
    case BatchScheme::shuffled:
      return fmt::format("batches of {}, reshuffled every epoch and kept secret", size);
    case BatchScheme::shuffled_all:
      return fmt::format(
          "batches of {}, the last of an epoch shorter, reshuffled every epoch and kept secret",
          size);
    case BatchScheme::with_replacement:
      return fmt::format("batches of {} drawn with replacement and kept secret", size);
    case BatchScheme::poisson:
      return fmt::format("Poisson batches of {} on average, kept secret", size);
    case BatchScheme::fixed_size:
      return fmt::format("batches of {} different records, drawn afresh every step and kept secret",
                         size);
    case BatchScheme::full: return "every step uses all records";
  }
  throw InternalError("an unknown way to draw batches");
}

std::string replicas_text(const AuditSpec& audit) {
  return audit.random_pairs
             ? fmt::format("{} replicas, each of a random pair", audit.pairs * audit.replicas)
             : fmt::format("{} replicas of {} {}", audit.replicas, audit.pairs,
                           audit.pairs == 1 ? "pair" : "pairs");
}

std::string worlds_text(const AuditSpec& audit) {
  if (!audit.coupled) return "independent";
  if (audit.share.all()) return "coupled (same seeds)";
  std::vector<std::string> shared;
  if (audit.share.init) shared.emplace_back("initial weights");
  if (audit.share.batches) shared.emplace_back("batches");
  if (audit.share.noise) shared.emplace_back("noise");
  return fmt::format("coupled in their {} alone", fmt::join(shared, " and "));
}

std::string pairs_text(const LedgerAudit& audit, Detail detail) {
  const AuditSpec& spec = audit.study->audit;
  if (detail == Detail::brief) {
    return fmt::format("{}, score {}, thresholds {}", replicas_text(spec), audit.score,
                       name(audit.options.strategy));
  }
  return fmt::format(
      "Sampling: {}. Runs: {}; a replica is a model of D and one of D' for each policy, which "
      "{}. Score {}, thresholds {}. The numbers cover one release at the end of training: not "
      "checkpoints, logs, or choices made by looking at the data",
      sampling_text(*audit.study), replicas_text(spec), worlds_text(spec), audit.score,
      name(audit.options.strategy));
}

std::string canaries_text(const Study& study, Detail detail) {
  const AuditSpec& spec = study.audit;
  const std::string coins =
      fmt::format("{} canaries{}, each included by a fair coin flip in each of {} {} per policy",
                  spec.canaries, study.adjacency.canary ? " with a wrong label" : "", spec.replicas,
                  spec.replicas == 1 ? "model" : "models");
  if (detail == Detail::brief) return coins;
  return coins +
         "; the significance level is divided among models and policies. Canaries stand for "
         "records that are easy to detect: others may show more or less";
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
                   ? fmt::format(
                         "{} shadow models per policy, each with every record of D included by a "
                         "fair coin flip",
                         study.audit.shadow_models)
                   : pairs_text(audit, detail);
  return scope;
}

void state_look(Document& document, const LedgerAudit& audit) {
  if (audit.trials < audit.planned) {
    document.state(
        StatementKind::warning,
        fmt::format("{} of {} trials are done. This is interim look {} at a growing ledger; "
                    "the significance level is split over the interim looks.",
                    audit.trials, audit.planned, audit.look.number));
  } else if (audit.look.number > 1) {
    document.state(
        StatementKind::info,
        fmt::format("This is interim look {} at the ledger; the significance level is split "
                    "over the interim looks.",
                    audit.look.number));
  }
}

void state_fallback(Document& document, const LedgerAudit& audit) {
  if (!audit.fallback) return;
  document.state(StatementKind::info,
                 fmt::format("The score is {}: models of the policy \"{}\" have no `{}`.",
                             audit.score, audit.fallback->policy, audit.fallback->wanted));
}

/// Models that are left out, and what that means for the numbers.
void state_left_out(Document& document, const PolicyAudit& of) {
  const auto* paired = std::get_if<PairedModels>(&of.models);
  if (paired == nullptr) {
    if (of.diverged + of.failed == 0) return;
    document.state(StatementKind::warning,
                   fmt::format("{}: {} models diverged and {} trials failed; they are excluded.",
                               of.policy, of.diverged, of.failed));
    return;
  }
  if (of.failed != 0) {
    document.state(StatementKind::warning,
                   fmt::format("{}: {} trials failed and are excluded. The bounds assume that "
                               "failures do not depend on whether the record was used.",
                               of.policy, of.failed));
  }
  if (paired->path_kl.risk && of.diverged != 0) {
    document.state(
        StatementKind::warning,
        fmt::format("{}: the path KL excludes {} trials that diverged.", of.policy, of.diverged));
  }
}

void state_infinite(Document& document, const std::string& policy, const InfinitePaths& paths) {
  if (paths.infinite.d + paths.infinite.d_prime == 0) return;
  std::string text = fmt::format(
      "{}: the path KL is infinite in {} of {} runs along D and {} of {} along D': in some step a "
      "parameter got noise on D or D' only, or moved without any",
      policy, paths.infinite.d, paths.runs.d, paths.infinite.d_prime, paths.runs.d_prime);
  if (!paths.parameters.empty()) {
    text += fmt::format(" ({}, ...)", fmt::join(paths.parameters, ", "));
  }
  document.state(StatementKind::warning, text + ".");
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

void add_two_sided_results(Document& document, const LedgerAudit& audit,
                           const PolicyAudit& policy) {
  const Subjects of = {{"policy", policy.policy}};
  for (const TwoSided& quantity : policy.quantities()) {
    Subjects subjects = of;
    std::string name = "mu";
    if (quantity.quantity == AuditedQuantity::epsilon) {
      name = "epsilon";
      subjects.emplace_back("delta", quantity.at);
    } else if (quantity.quantity == AuditedQuantity::delta) {
      name = "delta";
      subjects.emplace_back("epsilon", quantity.at);
    }
    if (quantity.proven) document.add_result(name + "_proven", *quantity.proven, subjects);
    if (quantity.path_kl) document.add_result(name + "_path_kl", *quantity.path_kl, subjects);
  }
  for (const TwoSided& quantity : policy.quantities()) {
    if (!quantity.contradicts_proof()) continue;
    add_contradiction_verdict(document, quantity, policy.policy, audit.options.confidence);
  }
}

void add_results(Document& document, const LedgerAudit& audit) {
  for (const PolicyAudit& policy : audit.policies) {
    const Subjects of = {{"policy", policy.policy}};
    if (const auto* paired = std::get_if<PairedModels>(&policy.models)) {
      add_bound_results(document, paired->audit, audit.deltas, audit.epsilons, of);
    } else if (const auto* canaries = std::get_if<CanaryModels>(&policy.models)) {
      for (std::size_t r = 0; r < canaries->replicas.size(); ++r) {
        Subjects replica = of;
        replica.emplace_back("replica", r + 1);
        add_one_run_results(document, canaries->replicas[r], audit.deltas, replica);
      }
    } else if (const auto& shadows = std::get<ShadowModels>(policy.models); shadows.audit) {
      add_bound_results(document, *shadows.audit, audit.deltas, audit.epsilons, of);
    }
    add_two_sided_results(document, audit, policy);
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
