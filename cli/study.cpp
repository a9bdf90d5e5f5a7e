#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "sfumato/study/scheduler/run_study.hpp"

namespace sfumato::cli {
namespace {

struct StudyOptions {
  std::string file, ledger, out;
  std::vector<std::string> settings;
  unsigned threads = 0;
  bool timings = false;
  bool json = false;
};

std::string default_ledger(const std::string& study) {
  return std::filesystem::path(study).stem().string() + ".ledger";
}

std::uint64_t trials_of(const Study& study) {
  return std::uint64_t{study.audit.pairs} * study.audit.replicas * study.noise.size();
}

/// How far a ledger is, policy by policy.
void add_progress_table(Document& document, const Study& study, const Ledger& ledger) {
  struct Row {
    std::uint64_t done = 0, diverged = 0, failed = 0;
    double seconds = 0.0;
  };
  std::vector<Row> rows(study.noise.size());
  std::string first_failure;
  ledger.for_each([&](const TrialResult& trial) {
    Row& row = rows.at(trial.key.policy);
    ++row.done;
    row.diverged += trial.status == TrialStatus::diverged ? 1 : 0;
    row.failed += trial.status == TrialStatus::failed ? 1 : 0;
    row.seconds += trial.seconds;
    if (first_failure.empty()) first_failure = trial.message;
  });
  Table table("policies", "Trials by noise policy",
              {{"policy", "policy"},
               {"done", "done"},
               {"of", "of"},
               {"diverged", "diverged"},
               {"failed", "failed"},
               {"seconds", "seconds each"}});
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const Row& row = rows[p];
    const Cell each =
        row.done == 0 ? Cell(Empty{}) : Cell(row.seconds / static_cast<double>(row.done));
    table.add_row({study.noise[p].name, row.done, study.audit.pairs * study.audit.replicas,
                   row.diverged, row.failed, each});
  }
  document.add(std::move(table));
  if (!first_failure.empty()) {
    document.state(StatementKind::warning, "The first failure: " + first_failure);
  }
}

void run(const StudyOptions& given, int& exit_code) {
  StudyOptions options = given;
  if (options.ledger.empty()) options.ledger = default_ledger(options.file);
  const TrialRunner runner(read_study(options.file, options.settings));
  Ledger ledger = Ledger::open(options.ledger, runner.identity(SFUMATO_VERSION), study_differences);
  TerminalObserver observer;
  const RunReport report = run_study(runner, ledger, options.threads, observer);
  observer.finish();
  Document document = new_document(
      "study run", runner.study().title.empty() ? "Study " + options.file : runner.study().title);
  add_progress_table(document, runner.study(), ledger);
  document.add_provenance("ledger", options.ledger);
  if (report.stopped) {
    std::string command = "sfumato study run " + options.file;
    for (const std::string& setting : options.settings) command += " --set '" + setting + "'";
    document.state(
        StatementKind::summary,
        fmt::format("Stopped after {} of {} trials; the rest: {} --ledger {}",
                    report.before + report.finished, report.trials, command, options.ledger));
    exit_code = kInterrupted;
  } else {
    document.state(StatementKind::summary,
                   fmt::format("{} trials in {} ({} new). Audit them: sfumato audit {}",
                               report.trials, options.ledger, report.finished, options.ledger));
  }
  print(document, options.json);
}

void status(const StudyOptions& options) {
  const Ledger ledger = Ledger::read(options.ledger);
  const Study study = parse_study(ledger.identity().study, options.ledger);
  std::uint64_t done = 0;
  for (const auto& [kind, count] : ledger.counts()) done += count;
  Document document = new_document("study status", study.title.empty() ? "Study" : study.title);
  add_progress_table(document, study, ledger);
  document.add_provenance("instruction set", ledger.identity().instruction_set);
  for (const auto& [name, digest] : ledger.identity().checksums) {
    document.add_provenance("data " + name, digest);
  }
  const std::uint64_t all = trials_of(study);
  const auto share = static_cast<std::size_t>(20 * done / all);
  document.state(StatementKind::summary,
                 fmt::format("[{}{}] {} of {} trials are finished.", std::string(share, '#'),
                             std::string(20 - share, '.'), done, all));
  print(document, options.json);
}

void export_trials(const StudyOptions& options) {
  const Ledger ledger = Ledger::read(options.ledger);
  const Study study = parse_study(ledger.identity().study, options.ledger);
  std::vector<std::string> columns = {
      "policy",        "pair",        "replica",        "world",        "status",
      "seed",          "diverged_at", "training_loss",  "largest_loss", "training_accuracy",
      "test_accuracy", "odometer",    "infinite_steps", "loss",         "margin",
      "gradient_norm", "projection"};
  constexpr std::size_t kScores = 13;  // columns before the first score
  if (options.timings) columns.emplace_back("seconds");
  CsvWriter out(options.out, columns);
  std::uint64_t rows = 0;
  const auto number = [&](double value) {
    if (std::isnan(value)) {
      out.text("");
    } else {
      out.number(value);
    }
  };
  ledger.for_each([&](const TrialResult& trial) {
    for (std::size_t w = 0; w < trial.worlds.size(); ++w) {
      const WorldResult& world = trial.worlds[w];
      out.text(study.noise.at(trial.key.policy).name)
          .integer(trial.key.pair)
          .integer(trial.key.replica)
          .text(w == 0 ? "D" : "D'")
          .text(name(trial.status))
          .text(fmt::format("{}", trial.seed));
      out.text(world.diverged_at ? fmt::format("{}", *world.diverged_at) : "");
      for (const double value : {world.training_loss, world.largest_loss, world.training_accuracy,
                                 world.test_accuracy, world.odometer}) {
        number(value);
      }
      out.integer(static_cast<std::int64_t>(world.infinite_steps));
      for (std::size_t i = kScores; i < kScores + 4; ++i) {
        double value = std::nan("");
        for (const NamedScore& score : world.scores) {
          if (score.name == columns[i]) value = score.value;
        }
        number(value);
      }
      if (options.timings) out.number(trial.seconds);
      out.end_row();
      ++rows;
    }
  });
  out.commit();
  Document document = new_document("study export", "Trials of " + options.ledger);
  document.state(StatementKind::summary, fmt::format("{} rows in {}.", rows, options.out));
  print(document, options.json);
}

}  // namespace

void add_study(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("study", "Trains the models of a study into a ledger");
  command->require_subcommand(1);
  command->footer("Example:\n  sfumato study run studies/table2_s1.toml --ledger s1.ledger");
  const auto options = std::make_shared<StudyOptions>();

  auto* runs = command->add_subcommand("run", "Trains what the ledger does not hold yet");
  runs->add_option("study", options->file, "Study file (TOML; keys: sfumato train --keys)")
      ->required();
  runs->add_option("--ledger", options->ledger,
                   "SQLite file of the trials (default: name of the study with .ledger)");
  runs->add_option("--threads", options->threads, "Groups trained at once (default: all cores)");
  runs->add_option("--set", options->settings, "Override a key of the study: key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_json_flag(*runs, options->json);
  runs->footer(
      "Example:\n"
      "  sfumato study run studies/table2_s1.toml --set train.iterations=200 --set audit.pairs=1\n"
      "Run it again to go on after an interruption: finished trials are kept.");
  runs->callback([options, &exit_code] { run(*options, exit_code); });

  auto* states = command->add_subcommand("status", "How far a ledger is");
  states->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  add_json_flag(*states, options->json);
  states->footer("Example:\n  sfumato study status table2_s1.ledger");
  states->callback([options] { status(*options); });

  auto* exports = command->add_subcommand("export", "Trials as CSV, in the order of their keys");
  exports->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  exports->add_option("--out", options->out, "CSV file to write")->required();
  exports->add_flag("--timings", options->timings, "Also the seconds of each trial");
  add_json_flag(*exports, options->json);
  exports->footer("Example:\n  sfumato study export table2_s1.ledger --out trials.csv");
  exports->callback([options] { export_trials(*options); });
}

}  // namespace sfumato::cli
