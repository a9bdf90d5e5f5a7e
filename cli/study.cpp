#include <memory>

#include "command.hpp"
#include "output_files.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {
namespace {

void add_file_and_settings(CLI::App& command, StudyOptions& options) {
  command.add_option("study", options.file, "Study file (TOML; keys: sfumato train --keys)")
      ->required();
  command.add_option("--set", options.settings, "Override a key of the study: key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_study(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("study", "Trains the models of a study into a ledger");
  command->require_subcommand(1);
  command->footer("Example:\n  sfumato study run studies/table2_s1.toml --ledger s1.ledger");
  const auto options = std::make_shared<StudyOptions>();

  auto* runs = command->add_subcommand("run", "Trains what the ledger does not hold yet");
  add_file_and_settings(*runs, *options);
  runs->add_option("--ledger", options->ledger,
                   "SQLite file of the trials (default: name of the study with .ledger)");
  runs->add_option("--threads", options->threads,
                   "Groups trained at once (default: all cores; 1 per rank of mpirun)")
      ->check(CLI::Range(0, 4096));
  add_group_flag(*runs);
  add_json_flag(*runs, options->json);
  runs->footer(
      "Example:\n"
      "  sfumato study run studies/table2_s1.toml --set train.iterations=200 --set audit.pairs=1\n"
      "  mpirun -n 64 sfumato study run studies/table2_s1.toml\n"
      "Run it again to go on after an interruption: finished trials are kept.");
  commands.push_back({runs, [options] { return run_study_command(*options); }});

  auto* plans = command->add_subcommand("plan", "What the planned runs can show, and how long");
  add_file_and_settings(*plans, *options);
  plans->add_option("--eps", options->epsilon,
                    "To show more than this (default: audit.claims, or 1)");
  plans->add_option("--delta", options->delta, "At this delta (default: audit.delta)");
  plans->add_option("--confidence", options->confidence,
                    "Of the audit (default: audit.confidence)");
  plans->add_option("--threads", options->threads, "Groups trained at once (default: all cores)")
      ->check(CLI::Range(1, 4096));
  plans->add_option("--ranks", options->ranks, "Processes of `mpirun -n N`, a group each")
      ->check(CLI::Range(1, 1'000'000));
  plans->add_option("--seconds", options->seconds, "To measure this machine (default: 2)");
  add_json_flag(*plans, options->json);
  plans->footer("Example:\n  sfumato study plan studies/table2_s1.toml --eps 1 --ranks 64");
  commands.push_back({plans, [options] { return plan_study(*options); }});

  auto* states = command->add_subcommand("status", "How far a ledger is");
  states->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  add_json_flag(*states, options->json);
  states->footer("Example:\n  sfumato study status table2_s1.ledger");
  commands.push_back({states, [options] { return show_study_status(*options); }});

  auto* exports =
      command->add_subcommand("export", "Trials as CSV or NPZ, in the order of their keys");
  exports->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  exports->add_option("--out", options->out, "File to write: .csv, or .npz with record losses")
      ->required();
  add_output_flags(*exports, options->force);
  exports->add_flag("--timings", options->timings, "Also the seconds of each trial");
  add_json_flag(*exports, options->json);
  exports->footer("Example:\n  sfumato study export table2_s1.ledger --out trials.csv");
  commands.push_back({exports, [options] { return export_study(*options); }});

  auto* copies = command->add_subcommand("copy", "A ledger with its looks, as a new file");
  copies->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  copies->add_option("copy", options->out, "File to make; an existing one is not replaced")
      ->required();
  add_group_flag(*copies);
  add_json_flag(*copies, options->json);
  copies->footer(
      "Example:\n  sfumato study copy table2_s1.ledger backup.ledger\n"
      "Also while a run adds to it. Every trial is checked; an older format becomes today's.");
  commands.push_back({copies, [options] { return copy_study(*options); }});

  auto* verifies = command->add_subcommand(
      "verify", "Trains random trials of a ledger again and compares every bit");
  verifies->add_option("ledger", options->ledger, "Ledger of `study run`")->required();
  verifies->add_option("--sample", options->sample, "Trials to draw (default: 10)")
      ->check(CLI::PositiveNumber);
  verifies->add_option("--seed", options->seed,
                       "Of the sample, to draw the same again (default: another each time)");
  verifies->add_option("--threads", options->threads,
                       "Groups trained at once (default: all cores)");
  add_json_flag(*verifies, options->json);
  verifies->footer(
      "Example:\n  sfumato study verify table2_s1.ledger --sample 20\n"
      "Exit code 1 if a trial comes out otherwise. The data must be where the study found them.");
  commands.push_back({verifies, [options] { return verify_study(*options); }});
}

}  // namespace sfumato::cli
