#include "sfumato/answers/audit/ledger_coins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/answers/audit/document.hpp"
#include "sfumato/answers/audit/one_run.hpp"
#include "sfumato/answers/audit/score_smells.hpp"
#include "sfumato/answers/audit/shadows.hpp"
#include "sfumato/study/coin_trials.hpp"

namespace sfumato {
namespace {

std::vector<ClaimedGuarantee> claims_of(const Study& study, const AuditCommand& command) {
  if (!command.claim.empty()) return {parse_claim(command.claim)};
  return study.audit.claims;
}

void state_losses(Document& document, const std::string& policy, const CoinTrials& trials) {
  if (trials.diverged + trials.failed == 0) return;
  document.state(StatementKind::warning,
                 fmt::format("{}: {} models diverged and {} trials failed; they are left out.",
                             policy, trials.diverged, trials.failed));
}

void require_runs(const CoinTrials& trials, std::size_t least, const std::string& policy,
                  const std::string& ledger) {
  if (trials.runs.size() >= least) return;
  throw InvalidArgument(fmt::format("holds {} finished models of the policy `{}`, {} are needed",
                                    trials.runs.size(), policy, least),
                        "Run the study first: sfumato study run", Where::in(ledger));
}

AuditCommand described(AuditCommand command, const Study& study) {
  command.adjacency = study.adjacency.kind == Adjacency::remove ? "remove" : "replace";
  command.access = "black-box";
  return command;
}

}  // namespace

void audit_canaries(Document& document, const Ledger& ledger, const Study& study,
                    const std::vector<std::size_t>& chosen, const AuditCommand& command,
                    const AuditOptions& options, Verdict& verdict) {
  const std::vector<CoinTrials> policies = coin_trials(ledger, study);
  std::vector<Column> columns = {{"policy", "policy"},
                                 {"replica", "replica"},
                                 {"canaries", "canaries"},
                                 {"guesses", "guesses"},
                                 {"correct", "correct"}};
  for (std::size_t i = 0; i < command.deltas.size(); ++i) {
    columns.push_back(
        {fmt::format("epsilon_{}", i + 1), fmt::format("eps at delta = {:g}", command.deltas[i])});
  }
  columns.push_back({"mu", "mu"});
  Table table("one_run", "One run with canaries, each in or out by a fair coin", columns, 2);
  std::vector<NamedAttack> attacks;
  for (const std::size_t p : chosen) {
    const std::string& policy = study.noise[p].name;
    const CoinTrials& trials = policies[p];
    require_runs(trials, 1, policy, command.ledger);
    state_losses(document, policy, trials);
    const double level = level_of(options) / static_cast<double>(study.audit.replicas);
    std::vector<OneRunAudit> audits;
    ScoreSample sample;
    for (std::size_t r = 0; r < trials.runs.size(); ++r) {
      const CoinRun& run = trials.runs[r];
      // The canaries come in the order of their slots, which their coins have no part in.
      audits.push_back(one_run_audit({run.scores, run.included, Ties::at_random}, command,
                                     command.seed + r, 1.0 - level));
      const CanaryGuesses& best = audits.back().best(Delta(command.deltas.front()));
      std::vector<Cell> row = {policy, r + 1, best.canaries, best.guesses, best.correct};
      for (const double delta : command.deltas) {
        row.emplace_back(audits.back().epsilon(Delta(delta)));
      }
      row.emplace_back(audits.back().mu());
      table.add_row(std::move(row));
      for (std::size_t i = 0; i < run.scores.size(); ++i) {
        (run.included[i] != 0 ? sample.with : sample.without).push_back(run.scores[i]);
      }
    }
    const bool reversed = scores_reversed(sample);
    attacks.push_back({policy, std::move(sample)});
    for (const ClaimedGuarantee& claim : claims_of(study, command)) {
      document.state(StatementKind::info, fmt::format("Claim against {}:", policy));
      const auto best = std::max_element(
          audits.begin(), audits.end(), [&](const OneRunAudit& a, const OneRunAudit& b) {
            return a.epsilon(claim.delta).value < b.epsilon(claim.delta).value;
          });
      check_one_run(document, *best, claim, reversed, verdict);
    }
  }
  document.add(std::move(table));
  add_membership(document, attacks, command.confidence);
  state_scope(
      document, described(command, study),
      fmt::format("{} canaries{}, each in or out by a fair coin in each of {} {} per policy; the "
                  "level is divided by the models and the policies. The canaries stand for the "
                  "records that are "
                  "easiest to tell: other records may show more or less",
                  study.audit.canaries, study.adjacency.canary ? " with a wrong label" : "",
                  study.audit.replicas, study.audit.replicas == 1 ? "model" : "models"));
}

void audit_shadows(Document& document, const Ledger& ledger, const Study& study,
                   const std::vector<std::size_t>& chosen, const AuditCommand& command,
                   const AuditOptions& options, Verdict& verdict) {
  const std::vector<CoinTrials> policies = coin_trials(ledger, study);
  Table table("shadows", "What the models show: LiRA on one record of each of half of them",
              {{"policy", "policy"},
               {"models", "models"},
               {"epsilon", fmt::format("eps at delta = {:g}", command.deltas.front())},
               {"cap", "perfect attack"},
               {"delta", fmt::format("delta at eps = {:g}", command.epsilons.front())}});
  std::vector<NamedAttack> attacks;
  for (const std::size_t p : chosen) {
    const std::string& policy = study.noise[p].name;
    require_runs(policies[p], 4, policy, command.ledger);
    state_losses(document, policy, policies[p]);
    const ShadowScores shadows = shadow_scores(policies[p]);
    for (NamedAttack& attack : shadow_attacks(shadows)) {
      attack.name = fmt::format("{}, {}", policy, attack.name);
      attacks.push_back(std::move(attack));
    }
    if (policies[p].diverged + policies[p].failed != 0) {  // which may depend on the coins
      table.add_row({policy, policies[p].runs.size(),
                     Empty{"models diverged or failed: the others are no fair sample"}, Empty{},
                     Empty{}});
      continue;
    }
    try {
      const ScoreSample sample = shadow_sample(shadows, command.seed);
      const Audit audit = audit_scores(sample, options);
      const Delta delta(command.deltas.front());
      table.add_row({policy, policies[p].runs.size(), audit.epsilon(delta),
                     Claimed<double>{audit.epsilon_cap(delta), Claim::exact,
                                     "what an attack without errors would show with these models"},
                     audit.delta(Epsilon(command.epsilons.front()))});
      for (const ClaimedGuarantee& claim : claims_of(study, command)) {
        document.state(StatementKind::info, fmt::format("Claim against {}:", policy));
        add_claim(document, check_claim(audit, claim.epsilon, claim.delta), claim,
                  {scores_reversed(sample), RunsNeeded::shadow_models}, verdict);
      }
    } catch (const InvalidArgument& error) {  // too few models for a bound, not for a description
      table.add_row({policy, policies[p].runs.size(), Empty{error.what()}, Empty{}, Empty{}});
    }
  }
  document.add(std::move(table));
  add_membership(document, attacks, command.confidence);
  state_scope(document, described(command, study),
              fmt::format("{} shadow models per policy, every record of D in or out of each by a "
                          "fair coin",
                          study.audit.shadow_models));
}

}  // namespace sfumato
