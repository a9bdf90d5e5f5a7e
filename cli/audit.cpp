#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "list_option.hpp"
#include "sfumato/answers/audit/document.hpp"
#include "sfumato/answers/audit/input.hpp"
#include "sfumato/answers/audit/ledger.hpp"
#include "sfumato/answers/audit/one_run.hpp"
#include "sfumato/answers/audit/score_smells.hpp"
#include "sfumato/answers/audit/shadows.hpp"
#include "sfumato/audit/lira.hpp"
#include "sfumato/core/number_check.hpp"

namespace sfumato::cli {
namespace {

using Eigen::Index;

void check_usage(AuditCommand& command) {
  const bool pair = !command.members.empty() || !command.non_members.empty();
  const bool layout = !command.logits.empty() || !command.membership.empty();
  const bool ledger = !command.ledger.empty();
  if (int{pair} + int{layout} + int{ledger} != 1) {
    refuse_usage("input",
                 "give a ledger, --members and --nonmembers, or --logits and "
                 "--membership");
  }
  if (!ledger && command.unit.empty()) {
    refuse_usage("unit", "is required for imported scores: models or records");
  }
  if (ledger && (!command.unit.empty() || command.randomised || command.pool)) {
    refuse_usage("input", "--unit, --randomised and --pool are for imported scores");
  }
  if (pair && (command.members.empty() || command.non_members.empty())) {
    refuse_usage("input", "--members and --nonmembers go together");
  }
  if (layout && (command.logits.empty() || command.membership.empty())) {
    refuse_usage("input", "--logits and --membership go together");
  }
  const bool models = ledger || command.unit == "models";
  if (command.pool && !models) {
    refuse_usage("pool", "columns of records share their coins: use --unit models");
  }
  if (models && (command.randomised || (command.guesses && !ledger))) {
    refuse_usage("randomised", "canaries are records: use --unit records");
  }
  if (!ledger && !command.randomised && command.guesses) {
    refuse_usage("guesses", "goes with --randomised");
  }
  if (!models && !command.claim.empty() && !command.randomised) {
    refuse_usage("claim",
                 "records scored on one model bound no epsilon, unless their inclusion was "
                 "randomised (--randomised)");
  }
  if ((command.strategy == "fixed") != !command.thresholds.empty()) {
    refuse_usage("threshold", "goes with --strategy fixed, which needs it");
  }
  if (command.look && *command.look == 0) {
    refuse_usage("look", "looks count from 1");
  }
  require_key("confidence", command.confidence, not_a_confidence);
  require_key("choosing", command.choosing_fraction, not_a_confidence);
  if (!ledger && command.deltas.empty()) command.deltas = {1e-5};  // a study has its own
  if (!ledger && command.epsilons.empty()) command.epsilons = {1.0};
  require_key("delta", command.deltas, not_a_delta);
  require_key("eps", command.epsilons, not_an_epsilon);
  command.deltas = without_repeats(command.deltas);
  command.epsilons = without_repeats(command.epsilons);
}

constexpr const char* kRecordsOnly =
    "The unit is the record: records scored on one model share its randomness, so they describe "
    "this model and bound no epsilon (Spec §11.2).";

void bound_models(Document& document, const std::vector<ScoreSample>& samples,
                  const AuditCommand& command, RunsNeeded unit, Verdict& verdict) {
  const Audit audit = audit_scores(samples, audit_options(command));
  add_bounds(document, audit, command);
  if (command.claim.empty()) return;
  const ClaimedGuarantee claim = parse_claim(command.claim);
  const bool reversed = std::any_of(samples.begin(), samples.end(), scores_reversed);
  add_claim(document, check_claim(audit, claim.epsilon, claim.delta), claim, {reversed, unit},
            verdict);
}

void warn_of_repeats(Document& document, const std::vector<ScoreSample>& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::optional<std::string> problem = repeated_scores(samples[i]);
    if (!problem) continue;
    const std::string where = samples.size() > 1 ? fmt::format(" in column {}", i + 1) : "";
    document.state(StatementKind::warning, fmt::format("Repeated scores{}: {}.", where, *problem));
  }
}

void audit_files(Document& document, const AuditCommand& command, Verdict& verdict) {
  std::vector<ScoreSample> samples = read_samples(command);
  warn_of_repeats(document, samples);
  std::string runs =
      fmt::format("{} {} with the record and {} without", samples.front().with.size(), command.unit,
                  samples.front().without.size());
  if (samples.size() > 1) {
    runs += fmt::format(", in each of {} samples", samples.size());
    if (command.pool) {
      samples = {pooled(samples)};
      runs += ", pooled: each run drew its pair at random";
    }
  }
  std::vector<NamedAttack> attacks;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    attacks.push_back(
        {samples.size() == 1 ? "given" : fmt::format("column {}", i + 1), samples[i]});
  }
  if (command.unit == "models") {
    bound_models(document, samples, command, RunsNeeded::models_per_world, verdict);
  } else if (command.randomised) {
    if (samples.size() > 1) {
      refuse_usage("randomised", "takes one column of scores");
    }
    const ScoreSample& sample = samples.front();
    std::vector<double> scores = sample.with;
    scores.insert(scores.end(), sample.without.begin(), sample.without.end());
    std::vector<std::uint8_t> included(sample.with.size(), 1);
    included.resize(scores.size(), 0);
    bound_one_run(document, {std::move(scores), std::move(included), Ties::against_attacker},
                  command, verdict);
  } else {
    document.state(StatementKind::warning, kRecordsOnly);
  }
  add_membership(document, attacks, command.confidence);
  state_scope(document, command, runs);
}

void audit_layout(Document& document, const AuditCommand& command, Verdict& verdict) {
  const ShadowScores shadows = read_shadows(command);
  const Index models = shadows.logits.rows(), records = shadows.logits.cols();
  if (command.unit == "models") {
    document.state(
        StatementKind::info,
        fmt::format("LiRA fitted on {} of {} models; each of the others is attacked on one "
                    "record, drawn at random.",
                    models / 2, models));
    document.state(StatementKind::assumption,
                   "Each model was trained on each record or not by an independent fair coin.");
    bound_models(document, {shadow_sample(shadows, command.seed)}, command,
                 RunsNeeded::shadow_models, verdict);
  } else if (command.randomised) {
    if (command.model < 1 || command.model > static_cast<std::uint64_t>(models)) {
      refuse_usage("model", fmt::format("there are models 1 to {}", models));
    }
    const auto target = static_cast<Index>(command.model - 1);
    document.state(StatementKind::assumption,
                   fmt::format("Model {} was chosen as the target before any was looked at: trying "
                               "several is as many tests.",
                               command.model));
    const Eigen::RowVectorXd row = lira_scores(shadows, LiraOptions{}).row(target);
    std::vector<double> scores(row.begin(), row.end());
    std::vector<std::uint8_t> included;
    for (Index r = 0; r < records; ++r) included.push_back(shadows.member(target, r));
    bound_one_run(document, {std::move(scores), std::move(included), Ties::at_random}, command,
                  verdict);
  } else {
    document.state(StatementKind::warning, kRecordsOnly);
  }
  add_membership(document, shadow_attacks(shadows), command.confidence);
  state_scope(document, command,
              fmt::format("{} models, {} records, each a member of some", models, records));
}

ExitCode audit(AuditCommand command) {
  Verdict verdict = Verdict::none;
  check_usage(command);
  if (!command.claim.empty()) (void)parse_claim(command.claim);  // wrong usage, found first
  const bool layout = !command.logits.empty();
  Document document = new_document(
      "audit",
      fmt::format("Audit of {}", !command.ledger.empty() ? command.ledger
                                 : layout                ? command.logits
                                          : command.members + " and " + command.non_members));
  if (!command.ledger.empty()) {
    audit_ledger(document, command, verdict);
  } else if (layout) {
    audit_layout(document, command, verdict);
  } else {
    audit_files(document, command, verdict);
  }
  document.add_provenance("seed", fmt::format("{}", command.seed));
  print(document, command.json);
  return code_of(verdict);
}

}  // namespace

void add_audit(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "audit", "What scores of trained models show about epsilon, with confidence");
  const auto options = std::make_shared<AuditCommand>();
  AuditCommand& o = *options;
  command->add_option("ledger", o.ledger, "Ledger of `study run`");
  command->add_option("--policy", o.policy, "Of a ledger: only this noise policy, in detail");
  command->add_option(
      "--score", o.score,
      "Of a ledger: margin (default), confidence, loss, gradient_norm, projection or "
      "likelihood_ratio (default where the law is known)");
  command->add_option("--members", o.members,
                      "Scores with the record (CSV or NPY; a column per pair or kind of score)");
  command->add_option("--nonmembers,--non-members", o.non_members, "Scores without it");
  command->add_option("--logits", o.logits, "LiRA's layout: logits, models x records");
  command->add_option("--membership", o.membership, "1 where the model was trained on the record");
  command
      ->add_option("--unit", o.unit, "What a score belongs to: its own model, or a record of one")
      ->check(CLI::IsMember({"models", "records"}));
  command->add_option("--larger-means", o.larger_means, "What larger scores mean (default member)")
      ->check(CLI::IsMember({"member", "nonmember"}));
  add_numbers_option(*command, "--delta", o.deltas,
                     "Deltas for epsilon (default: of the study, 1e-5)");
  add_numbers_option(*command, "--eps", o.epsilons,
                     "Epsilons for delta (default: of the study, 1)");
  command->add_option("--confidence", o.confidence,
                      "Of all bounds together, of all policies too (default: of the study, 0.95)");
  command
      ->add_option("--claim", o.claim, "Check eps=..,delta=..: exit code 1 if violated, 2 if open")
      ->type_name("eps=E,delta=D");
  command->add_option("--strategy", o.strategy, "How thresholds are chosen (default combined)")
      ->check(CLI::IsMember({"combined", "held-out", "ranks", "fixed"}));
  add_numbers_option(*command, "--threshold", o.thresholds,
                     "With fixed: chosen before the scores were seen");
  command->add_option("--choosing", o.choosing_fraction,
                      "With combined and held-out: share of models that choose (default 0.25)");
  command->add_option("--look", o.look,
                      "Which look at a growing set of runs this is (ledgers count by themselves)");
  command->add_flag("--pool", o.pool, "Columns are pairs that each run drew at random: one sample");
  command->add_flag("--independent-worlds", o.independent_worlds,
                    "Members and non-members share no seeds: credible interval too");
  command->add_flag("--randomised,--randomized", o.randomised,
                    "Each record was included by a fair coin: one-run audit");
  command->add_option(
      "--guesses", o.guesses,
      "With --randomised, or canaries of a ledger: how many, settled before (default: the "
      "best of several numbers, corrected for)");
  command->add_option("--model", o.model, "With --randomised --logits: the target (default 1)");
  command->add_option("--adjacency", o.adjacency, "How D' differs from D, for the statement")
      ->check(CLI::IsMember({"remove", "replace"}));
  command->add_option("--access", o.access, "Of the attacker, for the statement")
      ->check(CLI::IsMember({"black-box", "white-box"}));
  command->add_option("--seed", o.seed, "Of splits and draws (default 0)");
  add_json_flag(*command, o.json);
  command->footer(
      "Examples:\n"
      "  sfumato audit table2_s1.ledger --score loss --eps 0.1\n"
      "  sfumato audit --members examples/audit/in.csv --nonmembers examples/audit/out.csv \\\n"
      "      --unit models --claim eps=1.0,delta=1e-5\n"
      "Exit code 1: the claim is violated; 2: too few runs to tell, or scores the wrong way round "
      "(docs/audit.md).");
  commands.push_back({command, [options, command] {
                        options->own_confidence = command->count("--confidence") > 0;
                        return audit(*options);
                      }});
}

}  // namespace sfumato::cli
