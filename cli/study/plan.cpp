#include "sfumato/study/plan.hpp"

#include <fmt/format.h>

#include <thread>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/audit/one_run_audit.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/report/confidence.hpp"
#include "sfumato/study/scheduler/calibrate.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {
namespace {

const char* not_a_confidence(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a probability between 0 and 1";
}

const char* not_a_time_to_measure(double value) {
  return value >= 0.01 && value <= 3600.0 ? nullptr : "is not a time from 0.01 to 3600 seconds";
}

/// What to plan for: the command line, else the study's claims, else epsilon = 1.
std::vector<ClaimedGuarantee> claims_of(const StudyOptions& options, const AuditSpec& audit) {
  if (!options.epsilon && !options.delta && !audit.claims.empty()) return audit.claims;
  return {{Epsilon(options.epsilon.value_or(1.0)), Delta(options.delta.value_or(audit.delta))}};
}

void add_size(Document& document, const Study& study) {
  const AuditSpec& audit = study.audit;
  const std::uint64_t groups = std::uint64_t{audit.pairs} * audit.replicas;
  Table table("study", "What is trained",
              {{"policies", "policies"},
               {"pairs", "pairs"},
               {"replicas", "replicas"},
               {"groups", "groups"},
               {"models", "models"},
               {"steps", "steps each"}});
  table.add_row({study.noise.size(), audit.pairs, audit.replicas, groups,
                 audit.worlds() * groups * study.noise.size(), study.train.iterations});
  document.add(std::move(table));
}

Cell runs_cell(const std::optional<std::uint64_t>& runs) {
  return runs ? Cell(*runs) : Cell(Empty{"more than 10^7: this attack does not show it"});
}

/// The cap of the planned runs and the runs that are needed, by how the audit chooses thresholds.
void add_caps(Document& document, const Study& study, const ClaimedGuarantee& claim,
              double confidence, std::size_t number, std::size_t claims) {
  const AuditSpec& audit = study.audit;
  Table table(
      claims == 1 ? "caps" : fmt::format("caps_{}", number + 1),
      fmt::format("To show more than eps = {:g} at delta = {:g}, confidence {}",
                  claim.epsilon.nats(), claim.delta.probability(), format_confidence(confidence)),
      {{"thresholds", "thresholds"},
       {"runs", "runs planned"},
       {"cap", "can show at most"},
       {"perfect", "runs needed"},
       {"half", "TPR 50 %, FPR 1 %"},
       {"tenth", "TPR 10 %, FPR 0.1 %"}});
  for (const ThresholdStrategy strategy : {ThresholdStrategy::combined, ThresholdStrategy::held_out,
                                           ThresholdStrategy::ranks, ThresholdStrategy::fixed}) {
    const std::uint64_t runs = models_per_sample(audit);
    AuditOptions options;
    options.confidence = confidence;
    options.delta = claim.delta;
    options.strategy = strategy;
    options.audits = study.noise.size();
    if (strategy == ThresholdStrategy::fixed) options.thresholds = {0.5};
    AuditSpec plan = audit;
    const bool splits =
        strategy == ThresholdStrategy::combined || strategy == ThresholdStrategy::held_out;
    const bool too_few = splits && runs < 2;
    if (too_few) plan.replicas = 2;  // what is needed does not depend on what is planned
    const Audit perfect = perfect_audit(plan, options);
    const double cap = too_few ? 0.0 : perfect.epsilon_cap(claim.delta);
    const auto needed = [&](const AttackRates& attack) {
      return runs_cell(perfect.runs_to_refute(claim.epsilon, claim.delta, attack));
    };
    table.add_row({name(strategy), runs,
                   Claimed<double>{cap, Claim::exact, "an attack that never errs"}, needed({}),
                   needed({0.5, 0.01}), needed({0.1, 0.001})});
    if (strategy != ThresholdStrategy::combined) continue;  // the default of audits
    if (cap > claim.epsilon.nats()) {
      document.state(StatementKind::info,
                     fmt::format("The planned runs can refute eps = {:g}: an attack that never "
                                 "errs would show {:.3f}.",
                                 claim.epsilon.nats(), cap));
    } else {
      document.state(
          StatementKind::warning,
          fmt::format("NOT ENOUGH RUNS to refute eps = {:g}: not even an attack that never errs "
                      "would show more than {:.3f}.",
                      claim.epsilon.nats(), cap));
    }
  }
  document.add(std::move(table));
}

/// What a perfect attack would show where coins decide which records are in.
void add_coin_caps(Document& document, const Study& study, Delta delta, double confidence) {
  const AuditSpec& audit = study.audit;
  AuditOptions options;
  options.confidence = confidence;
  options.delta = delta;
  options.audits = study.noise.size();
  if (audit.canaries != 0) {
    const OneRunAudit perfect = perfect_one_run_audit(
        audit.canaries, 1.0 - level_of(options) / static_cast<double>(audit.replicas));
    document.state(StatementKind::info,
                   fmt::format("{} canaries, all guessed right, would show eps >= {:.3f} at delta "
                               "= {:g}.",
                               audit.canaries, perfect.epsilon_cap(delta), delta.probability()));
  }
  if (audit.shadow_models != 0) {
    // Half of the models fit the attack; of each of the others one record is guessed, half of them in.
    AuditSpec guessed = audit;
    const std::size_t targets = audit.shadow_models - audit.shadow_models / 2;
    guessed.replicas = targets / 2;
    const double cap =
        guessed.replicas < 2 ? 0.0 : perfect_audit(guessed, options).epsilon_cap(delta);
    document.state(
        StatementKind::info,
        fmt::format("{} shadow models leave {} to guess, one record each: with as many members as "
                    "others, all guessed right, they would show eps >= {:.3f} at delta = {:g}.",
                    audit.shadow_models, targets, cap, delta.probability()));
  }
}

void add_time(Document& document, const Study& study, const StudyOptions& options,
              Observer& observer) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned wanted = options.ranks != 0     ? options.ranks
                          : options.threads != 0 ? options.threads
                                                 : cores;
  const std::uint64_t groups = std::uint64_t{study.audit.pairs} * study.audit.replicas;
  const auto at_once = static_cast<unsigned>(
      std::min<std::uint64_t>({std::uint64_t{wanted}, std::uint64_t{cores}, groups}));
  const Calibration calibration = calibrate(study, at_once, options.seconds, observer);
  if (observer.stop_requested()) return;
  const char* unit = options.ranks != 0 ? "ranks" : "threads";
  Table table(
      "time", "Predicted time of training",
      {{"where", "where"}, {"workers", unit}, {"seconds", "seconds"}, {"clock", "h:min:s"}});
  const auto add_row = [&](const std::string& where, unsigned workers, double factor) {
    const double seconds = factor * predicted_seconds(calibration, groups, workers);
    table.add_row({where, wanted,
                   Claimed<double>{seconds, Claim::estimate, "measured speed, groups in turn"},
                   clock_text(seconds)});
  };
  add_row(fmt::format("this machine, {} cores", cores), at_once, 1.0);
  if (wanted > at_once && groups > at_once) {
    add_row(fmt::format("{} such cores", wanted), wanted, 1.0);
  }
  document.add(std::move(table));
  document.state(StatementKind::info,
                 fmt::format("A group of {} models takes {:.3g} s with {} at once, {} on this "
                             "machine as busy as it was.",
                             study.audit.worlds() * study.noise.size(), calibration.group_seconds,
                             at_once, calibration.whole ? "measured" : "extrapolated from steps"));
}

}  // namespace

ExitCode plan_study(const StudyOptions& options) {
  ExitCode code = kFine;
  if (options.epsilon) require_key("eps", *options.epsilon, not_an_epsilon);
  if (options.delta) require_key("delta", *options.delta, not_a_delta);
  if (options.confidence) require_key("confidence", *options.confidence, not_a_confidence);
  require_key("seconds", options.seconds, not_a_time_to_measure);
  if (options.threads != 0 && options.ranks != 0) {
    refuse_usage("ranks", "plan for threads or for ranks, not for both");
  }
  const Study study = read_study(options.file, options.settings);
  Document document =
      new_document("study plan", study.title.empty() ? "Study " + options.file : study.title);
  add_size(document, study);
  const std::vector<ClaimedGuarantee> claims = claims_of(options, study.audit);
  const double confidence = options.confidence.value_or(study.audit.confidence);
  for (std::size_t i = 0; i < claims.size() && study.audit.worlds() == 2; ++i) {
    add_caps(document, study, claims[i], confidence, i, claims.size());
  }
  add_coin_caps(document, study, claims.front().delta, confidence);
  if (study.audit.worlds() == 2) {
    document.state(
        StatementKind::info,
        fmt::format("Runs are models per world{} and policy, and the policies share the "
                    "confidence; \"runs needed\" is for an attack that "
                    "never errs, the columns behind it for weaker ones that do as expected.",
                    study.audit.random_pairs ? "" : ", pair"));
  }
  document.state(StatementKind::info,
                 "No number of runs certifies that epsilon is below a value: audits refute, proven "
                 "bounds (sfumato quadratic, rows, bound) certify.");
  TerminalObserver observer;
  add_time(document, study, options, observer);
  observer.finish();
  if (observer.stop_requested()) code = kInterrupted;
  print(document, options.json);
  return code;
}

}  // namespace sfumato::cli
