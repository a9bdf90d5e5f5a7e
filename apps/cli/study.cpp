#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "key_options.hpp"
#include "lab/study/export_answer.hpp"
#include "lab/study/ledger_study.hpp"
#include "lab/study/plan_answer.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/study/verify_ledger.hpp"
#include "output_files.hpp"
#include "progress.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

/// What the command line asks, and how the answer is to be shown.
struct Asked {
  std::string input;  ///< a study, or a ledger
  KeyOptions keys;
  std::vector<std::string> settings;  ///< of --set
  Output output;
};

void add_study_file(CLI::App& command, Asked& asked) {
  command.add_option("STUDY.toml", asked.input, "Study file (keys: sfumato train --keys)");
  add_settings(command, asked.settings);
}

void add_ledger(CLI::App& command, Asked& asked) {
  command.add_option("LEDGER", asked.input,
                     "Ledger written by `study run`, or a TOML file with the options as keys");
}

/// The question of a study file.
template <class Question>
Question study_question(Asked& asked, const Keys<Question>& keys) {
  Question question;
  asked.keys.give("study", {asked.input});
  read_keys(question, asked.keys.table(), keys);
  question.settings = asked.settings;
  return question;
}

/// The question of a ledger.
template <class Question>
Question ledger_question(Asked& asked, const Keys<Question>& keys) {
  Question question;
  const bool is_file = asked.input.ends_with(".toml");
  if (!is_file) asked.keys.give("ledger", {asked.input});
  read_keys(question, asked.keys.table(is_file ? asked.input : ""), keys);
  return question;
}

/// Answers and shows.
template <class Question>
auto answer_and_show(const Question& question, const std::string& input, const Output& output) {
  prepare_files({input}, {}, output);
  TerminalObserver observer;
  auto found = answer(question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, output);
  return found;
}

ExitCode run(Asked& asked) {
  const StudyRunQuestion question = study_question(asked, study_run_keys());
  prepare_files({asked.input}, {}, asked.output);
  TerminalObserver observer;
  const auto found = answer(question, observer);
  observer.finish();
  if (!found) return kFine;  // rank 0 prints
  show([&](Detail detail) { return document_of(*found, detail); }, asked.output);
  return code_of(Verdict::none, found->report.stopped);
}

void add_run(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("run", "Train the models that the ledger does not hold yet");
  const auto asked = std::make_shared<Asked>();
  add_study_file(*command, *asked);
  asked->keys.declare(*command, infos_of(study_run_keys()), {"study"});
  add_output_options(*command, asked->output);
  command->footer(
      "Examples:\n"
      "  sfumato study run studies/table2_s1.toml --set train.iterations=200\n"
      "  mpirun -n 64 sfumato study run studies/table2_s1.toml\n"
      "After an interruption, run the same command again: finished trials are kept.");
  commands.push_back({command, [asked] { return run(*asked); }, true});
}

void add_plan(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand(
      "plan", "Say what the planned runs can show, and how long they take on this machine");
  const auto asked = std::make_shared<Asked>();
  add_study_file(*command, *asked);
  asked->keys.declare(*command, infos_of(study_plan_keys()), {"study"});
  add_output_options(*command, asked->output);
  command->footer("Example:\n  sfumato study plan studies/table2_s1.toml --eps 1 --ranks 64");
  commands.push_back({command,
                      [asked] {
                        const auto found = answer_and_show(
                            study_question(*asked, study_plan_keys()), asked->input, asked->output);
                        return code_of(Verdict::none, !found.time);
                      },
                      true});
}

void add_status(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("status", "Show how much of a study is done");
  const auto asked = std::make_shared<Asked>();
  add_ledger(*command, *asked);
  asked->keys.declare(*command, infos_of(study_status_keys()), {"ledger"});
  add_output_options(*command, asked->output);
  command->footer("Example:\n  sfumato study status table2_s1.ledger");
  commands.push_back({command, [asked] {
                        answer_and_show(ledger_question(*asked, study_status_keys()), asked->input,
                                        asked->output);
                        return kFine;
                      }});
}

void add_export(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("export", "Write the trials of a ledger as CSV or NPZ");
  const auto asked = std::make_shared<Asked>();
  add_ledger(*command, *asked);
  asked->keys.declare(*command, infos_of(study_export_keys()), {"ledger"});
  add_output_options(*command, asked->output);
  command->footer("Example:\n  sfumato study export table2_s1.ledger --out trials.csv");
  commands.push_back({command, [asked] {
                        StudyExportQuestion question = ledger_question(*asked, study_export_keys());
                        question.force = asked->output.force;
                        answer_and_show(question, asked->input, asked->output);
                        return kFine;
                      }});
}

void add_copy(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand("copy", "Copy a ledger, with its record of interim looks");
  const auto asked = std::make_shared<Asked>();
  const auto copy = std::make_shared<std::string>();
  add_ledger(*command, *asked);
  command->add_option("COPY", *copy, "File to create; an existing one is never replaced");
  asked->keys.declare(*command, infos_of(study_copy_keys()), {"ledger", "copy"});
  add_group_flag(*command);
  add_json_flag(*command, asked->output.json);
  command->footer(
      "Example:\n  sfumato study copy table2_s1.ledger backup.ledger\n"
      "Safe while a run is adding to the ledger. Every trial is checked, and ledgers of\n"
      "older versions are converted.");
  commands.push_back({command, [asked, copy] {
                        asked->keys.give("copy", {*copy});
                        answer_and_show(ledger_question(*asked, study_copy_keys()), asked->input,
                                        asked->output);
                        return kFine;
                      }});
}

void add_verification(CLI::App& study, Commands& commands) {
  auto* command = study.add_subcommand(
      "verify", "Train a random sample of a ledger's trials again and compare every bit");
  const auto asked = std::make_shared<Asked>();
  add_ledger(*command, *asked);
  asked->keys.declare(*command, infos_of(study_verify_keys()), {"ledger"});
  add_output_options(*command, asked->output);
  command->footer(
      "Example:\n  sfumato study verify table2_s1.ledger --sample 20\n"
      "Exit code 1 if a trial differs. The data must be where the study found them.");
  commands.push_back({command, [asked] {
                        const StudyVerifyAnswer found =
                            answer_and_show(ledger_question(*asked, study_verify_keys()),
                                            asked->input, asked->output);
                        return code_of(found.verdict, found.result.stopped);
                      }});
}

}  // namespace

void add_study(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("study", "Plan and train the many models of an audit");
  command->require_subcommand(1);
  command->footer("Example:\n  sfumato study run studies/table2_s1.toml --ledger s1.ledger");
  add_run(*command, commands);
  add_plan(*command, commands);
  add_status(*command, commands);
  add_export(*command, commands);
  add_copy(*command, commands);
  add_verification(*command, commands);
}

}  // namespace sfumato::apps
