#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>

#include "command.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "train/document.hpp"
#include "train/measures.hpp"
#include "train/output.hpp"
#include "train/run.hpp"

namespace sfumato::cli {
namespace {

/// A word as a POSIX shell reads it back.
std::string shell_word(const std::string& word) {
  const std::string_view plain = "_-+./=:,@%";
  const bool is_plain = std::all_of(word.begin(), word.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || plain.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string resume_command(const TrainOptions& options) {
  std::string line = "sfumato train " + shell_word(options.file);
  for (const std::string& setting : options.settings) line += " --set " + shell_word(setting);
  if (!options.out.empty()) line += " --out " + shell_word(options.out);
  return line + " --resume";
}

void state_files(Document& document, const TrainOptions& options, const TrainInput& input) {
  document.state(
      StatementKind::summary,
      fmt::format("Parameters (NPZ, PyTorch's layout), log.json and document.json are in {}.",
                  options.out));
  if (!input.study.train.gradient_differences) return;
  document.state(
      StatementKind::summary,
      fmt::format("Noise for these gradient differences: sfumato design --second-moments "
                  "{}/{}.d.second_moments.npy --differences-are private --trace 1 --out noise.npz",
                  options.out, input.policies.front().name));
}

ExitCode run_train(const TrainOptions& options) {
  ExitCode code = kFine;
  if (options.keys) {
    Document document = new_document("train", "Study files");
    add_keys(document);
    print(document, options.json);
    return code;
  }
  if (options.file.empty()) throw CLI::RequiredError("study");
  const TrainInput input = read_input(options);
  if (!options.out.empty()) prepare_directory(options, input);
  TerminalObserver observer;
  const TrainResult result = train(input, options, observer);
  Document document = new_document(
      "train", input.study.title.empty() ? "Training of " + options.file : input.study.title);
  add_setting(document, input);
  if (result.group.step() < input.study.train.iterations) {
    observer.finish();
    document.state(StatementKind::warning,
                   fmt::format("stopped on request after {} of {} iterations.", result.group.step(),
                               input.study.train.iterations));
    document.state(StatementKind::summary,
                   fmt::format("The state is saved in {}. To go on: {}", checkpoint_path(options),
                               resume_command(options)));
    print(document, options.json);
    code = kInterrupted;
    return code;
  }
  add_results(document, input, result);
  if (!options.out.empty()) {
    write_results(options, input, result);
    state_files(document, options, input);
  }
  add_measures(document, options, input, result, observer);
  observer.finish();
  if (observer.stop_requested() && !options.measures.empty()) code = kInterrupted;
  if (!options.out.empty()) write_document(options.out, document);
  std::error_code ignored;  // a checkpoint that stays is refused by the next run, with its name
  std::filesystem::remove(checkpoint_path(options), ignored);
  print(document, options.json);
  return code;
}

}  // namespace

void add_train(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "train", "Trains networks on D and D' with noise: losses, accuracy, odometer, parameters");
  const auto options = std::make_shared<TrainOptions>();
  TrainOptions& o = *options;
  command->add_option("study", o.file, "Study file (TOML)");
  command->add_option("--set", o.settings, "Override a key: train.iterations=200; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->add_option("--out", o.out, "Directory for parameters, log and checkpoints");
  add_output_flags(*command, o.force);
  command->add_flag("--resume", o.resume, "Go on from the checkpoint of an interrupted run");
  command
      ->add_option("--measure", o.measures,
                   "Of the final models: hessian, flatness, covariance, noise")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME")
      ->check(CLI::IsMember({"hessian", "flatness", "covariance", "noise"}));
  command->add_flag("--keys", o.keys, "List the keys of a study file with their defaults");
  add_json_flag(*command, o.json);
  command->footer(
      "Examples:\n"
      "  sfumato train examples/train/quick.toml\n"
      "  sfumato train studies/table2_s1.toml --set train.iterations=500 \\\n"
      "      --set noise.anisotropic.variance=0.02 --out run1\n"
      "Ctrl-C saves the state; the same command with --resume goes on (docs/train.md).");
  commands.push_back({command, [options] { return run_train(*options); }});
}

}  // namespace sfumato::cli
