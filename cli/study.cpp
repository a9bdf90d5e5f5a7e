#include <memory>

#include "command.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/answers/study/copy.hpp"
#include "sfumato/answers/study/export.hpp"
#include "sfumato/answers/study/plan.hpp"
#include "sfumato/answers/study/run.hpp"
#include "sfumato/answers/study/status.hpp"
#include "sfumato/answers/study/verify.hpp"

namespace sfumato::cli {
namespace {

/// A question as the command line fills it in, and how its answer is to be shown.
template <class Question>
struct Asked {
  Question question;
  Output output;
};

void add_file_and_settings(CLI::App& command, std::string& study,
                           std::vector<std::string>& settings) {
  command.add_option("study", study, "Study file (TOML; keys: sfumato train --keys)")->required();
  command.add_option("--set", settings, "Override a key of the study: key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_ledger(CLI::App& command, std::string& ledger) {
  command.add_option("ledger", ledger, "Ledger of `study run`")->required();
}

/// Answers and shows.
template <class Question>
auto answer_and_show(const Asked<Question>& asked) {
  prepare_report(asked.output);
  TerminalObserver observer;
  auto found = answer(asked.question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, asked.output);
  return found;
}

void add_run(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("run", "Trains what the ledger does not hold yet");
  const auto asked = std::make_shared<Asked<StudyRunQuestion>>();
  StudyRunQuestion& question = asked->question;
  add_file_and_settings(*command, question.study, question.settings);
  command->add_option("--ledger", question.ledger,
                      "SQLite file of the trials (default: name of the study with .ledger)");
  command
      ->add_option("--threads", question.threads,
                   "Groups trained at once (default: all cores; 1 per rank of mpirun)")
      ->check(CLI::Range(0, 4096));
  add_output_options(*command, asked->output);
  command->footer(
      "Example:\n"
      "  sfumato study run studies/table2_s1.toml --set train.iterations=200 --set audit.pairs=1\n"
      "  mpirun -n 64 sfumato study run studies/table2_s1.toml\n"
      "Run it again to go on after an interruption: finished trials are kept.");
  commands.push_back({command, [asked] {
                        prepare_report(asked->output);
                        TerminalObserver observer;
                        const auto found = answer(asked->question, observer);
                        observer.finish();
                        if (!found) return kFine;  // rank 0 prints
                        show([&](Detail detail) { return document_of(*found, detail); },
                             asked->output);
                        return code_of(Verdict::none, found->report.stopped);
                      }});
}

void add_plan(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("plan", "What the planned runs can show, and how long");
  const auto asked = std::make_shared<Asked<StudyPlanQuestion>>();
  StudyPlanQuestion& question = asked->question;
  add_file_and_settings(*command, question.study, question.settings);
  command->add_option("--eps", question.eps,
                      "To show more than this (default: audit.claims, or 1)");
  command->add_option("--delta", question.delta, "At this delta (default: audit.delta)");
  command->add_option("--confidence", question.confidence,
                      "Of the audit (default: audit.confidence)");
  command->add_option("--threads", question.threads, "Groups trained at once (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--ranks", question.ranks, "Processes of `mpirun -n N`, a group each")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--seconds", question.seconds, "To measure this machine (default: 2)");
  add_output_options(*command, asked->output);
  command->footer("Example:\n  sfumato study plan studies/table2_s1.toml --eps 1 --ranks 64");
  commands.push_back(
      {command, [asked] { return code_of(Verdict::none, !answer_and_show(*asked).time); }});
}

void add_status(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("status", "How far a ledger is");
  const auto asked = std::make_shared<Asked<StudyStatusQuestion>>();
  add_ledger(*command, asked->question.ledger);
  add_output_options(*command, asked->output);
  command->footer("Example:\n  sfumato study status table2_s1.ledger");
  commands.push_back({command, [asked] {
                        answer_and_show(*asked);
                        return kFine;
                      }});
}

void add_export(CLI::App& study, Commands& commands) {
  auto* command =
      study.add_subcommand("export", "Trials as CSV or NPZ, in the order of their keys");
  const auto asked = std::make_shared<Asked<StudyExportQuestion>>();
  StudyExportQuestion& question = asked->question;
  add_ledger(*command, question.ledger);
  command->add_option("--out", question.out, "File to write: .csv, or .npz with record losses")
      ->required();
  add_output_flags(*command, question.force);
  command->add_flag("--timings", question.timings, "Also the seconds of each trial");
  add_json_flag(*command, asked->output.json);
  command->footer("Example:\n  sfumato study export table2_s1.ledger --out trials.csv");
  commands.push_back({command, [asked] {
                        answer_and_show(*asked);
                        return kFine;
                      }});
}

void add_copy(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("copy", "A ledger with its looks, as a new file");
  const auto asked = std::make_shared<Asked<StudyCopyQuestion>>();
  add_ledger(*command, asked->question.ledger);
  command->add_option("copy", asked->question.copy, "File to make; an existing one is not replaced")
      ->required();
  add_group_flag(*command);
  add_json_flag(*command, asked->output.json);
  command->footer(
      "Example:\n  sfumato study copy table2_s1.ledger backup.ledger\n"
      "Also while a run adds to it. Every trial is checked; an older format becomes today's.");
  commands.push_back({command, [asked] {
                        answer_and_show(*asked);
                        return kFine;
                      }});
}

void add_verification(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand(
      "verify", "Trains random trials of a ledger again and compares every bit");
  const auto asked = std::make_shared<Asked<StudyVerifyQuestion>>();
  StudyVerifyQuestion& question = asked->question;
  add_ledger(*command, question.ledger);
  command->add_option("--sample", question.sample, "Trials to draw (default: 10)")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", question.seed,
                      "Of the sample, to draw the same again (default: another each time)");
  command->add_option("--threads", question.threads, "Groups trained at once (default: all cores)");
  add_output_options(*command, asked->output);
  command->footer(
      "Example:\n  sfumato study verify table2_s1.ledger --sample 20\n"
      "Exit code 1 if a trial comes out otherwise. The data must be where the study found them.");
  commands.push_back({command, [asked] {
                        const StudyVerifyAnswer found = answer_and_show(*asked);
                        return code_of(found.verdict, found.result.stopped);
                      }});
}

}  // namespace

void add_study(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("study", "Trains the models of a study into a ledger");
  command->require_subcommand(1);
  command->footer("Example:\n  sfumato study run studies/table2_s1.toml --ledger s1.ledger");
  add_run(*command, commands);
  add_plan(*command, commands);
  add_status(*command, commands);
  add_export(*command, commands);
  add_copy(*command, commands);
  add_verification(*command, commands);
}

}  // namespace sfumato::cli
