#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/answers/study/keys.hpp"
#include "sfumato/answers/train/answer.hpp"
#include "sfumato/answers/train/document.hpp"

namespace sfumato::cli {
namespace {

constexpr TrainMeasure kMeasures[] = {TrainMeasure::hessian, TrainMeasure::flatness,
                                      TrainMeasure::covariance, TrainMeasure::noise};

struct TrainOptions {
  TrainQuestion question;
  Output output;
  bool keys = false;
};

ExitCode run_train(TrainOptions& options) {
  if (options.keys) {
    print(study_keys_document(), options.output.json);
    return kFine;
  }
  if (options.question.study.empty()) {
    refuse_usage("study", "a study file is required, or --keys to see what one holds");
  }
  options.question.force = options.output.force;
  prepare_report(options.output);
  TerminalObserver observer;
  const TrainAnswer found = answer(options.question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(Verdict::none, found.stopped());
}

}  // namespace

void add_train(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "train", "Trains networks on D and D' with noise: losses, accuracy, path KL, parameters");
  const auto options = std::make_shared<TrainOptions>();
  TrainQuestion& question = options->question;
  command->add_option("study", question.study, "Study file (TOML)");
  command
      ->add_option("--set", question.settings, "Override a key: train.iterations=200; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->add_option("--out", question.out, "Directory for parameters, log and checkpoints");
  command->add_flag("--resume", question.resume, "Go on from the checkpoint of an interrupted run");
  command
      ->add_option_function<std::vector<std::string>>(
          "--measure",
          [&question](const std::vector<std::string>& names) {
            for (const std::string& given : names) {
              for (const TrainMeasure measure : kMeasures) {
                if (name(measure) == given) question.measures.push_back(measure);
              }
            }
          },
          "Of the final models: hessian, flatness, covariance, noise")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME")
      ->check(CLI::IsMember({"hessian", "flatness", "covariance", "noise"}));
  command->add_flag("--keys", options->keys, "List the keys of a study file with their defaults");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato train examples/train/quick.toml\n"
      "  sfumato train studies/table2_s1.toml --set train.iterations=500 \\\n"
      "      --set noise.anisotropic.variance=0.02 --out run1\n"
      "Ctrl-C saves the state; the same command with --resume goes on (docs/train.md).");
  commands.push_back({command, [options] { return run_train(*options); }});
}

}  // namespace sfumato::cli
