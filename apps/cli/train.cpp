#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/train/private_answer.hpp"
#include "lab/train/train_answer.hpp"
#include "lab/train/train_document.hpp"
#include "progress.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

struct TrainOptions {
  std::string study;
  KeyOptions keys, private_keys;
  std::vector<std::string> settings;  ///< of --set
  bool for_release = false;           ///< --private
  Output output;
  bool list_keys = false;
};

ExitCode run_private(TrainOptions& options, const TrainQuestion& plain) {
  if (plain.resume || !plain.measures.empty()) {
    refuse_usage(
        plain.resume ? "resume" : "measure",
        "a private run keeps no state and shows nothing but the model: its noise is drawn once. "
        "Leave it out, or train without --private");
  }
  options.private_keys.give("study", {options.study});
  PrivateTrainQuestion question;
  const TomlTable table = options.private_keys.table();
  read_keys(question, table, private_train_keys());
  question.settings = options.settings;
  question.out = plain.out;
  question.force = options.output.force;
  prepare_files(options.private_keys.inputs(table), {}, options.output);
  TerminalObserver observer;
  const PrivateTrainAnswer found = located_keys(table, [&] { return answer(question, observer); });
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(Verdict::none, !found.finished);
}

ExitCode run_train(TrainOptions& options) {
  if (options.list_keys) {
    print(study_keys_document(), options.output.json);
    return kFine;
  }
  options.keys.give("study", {options.study});
  TrainQuestion question;
  read_keys(question, options.keys.table(), train_keys());
  if (options.for_release) return run_private(options, question);
  if (!options.private_keys.empty()) {
    refuse_usage("private", "the options of private training need it. Add --private");
  }
  question.settings = options.settings;
  question.force = options.output.force;
  prepare_files({question.study}, {}, options.output);
  TerminalObserver observer;
  const TrainAnswer found = answer(question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(Verdict::none, found.stopped());
}

}  // namespace

void add_train(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "train", "Train networks on D and D' with noise, and measure what each step reveals");
  const auto options = std::make_shared<TrainOptions>();
  command->add_option("STUDY.toml", options->study, "Study file");
  add_settings(*command, options->settings);
  options->keys.declare(*command, infos_of(train_keys()), {"study"});
  command->add_flag("--private", options->for_release,
                    "Train one model of D with a guarantee, to be released");
  options->private_keys.declare(*command, infos_of(private_train_keys()), {"study", "out"});
  command->add_flag("--keys", options->list_keys,
                    "List the keys of a study file with their defaults");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato train examples/train/quick.toml\n"
      "  sfumato train studies/table2_s1.toml --set train.iterations=500 \\\n"
      "      --set noise.anisotropic.variance=0.02 --out run1\n"
      "  sfumato train examples/train/private.toml --private --target-epsilon 3\n"
      "Ctrl-C saves the state; add --resume to the same command to continue\n"
      "(docs/train.md).");
  show_first(*command, {"set", "out", "private", "target-epsilon", "target-delta", "resume",
                        "budget", "keys"});
  commands.push_back({command, [options] { return run_train(*options); }, true});
}

}  // namespace sfumato::apps
