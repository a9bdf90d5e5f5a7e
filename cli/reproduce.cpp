#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "command.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/paper/run.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato::cli {
namespace {

struct Options {
  ReproduceRequest request;
  std::string scale = "quick";
  bool json = false;
};

std::vector<std::string> part_keys() {
  std::vector<std::string> keys;
  for (const Part& part : reproduction_parts()) {
    keys.push_back(part.key);
    const std::string group = part.key.substr(0, part.key.find('.'));  // all parts of a table
    if (group != part.key && std::find(keys.begin(), keys.end(), group) == keys.end()) {
      keys.push_back(group);
    }
  }
  return keys;
}

std::string part_list() {
  std::string list;
  for (const Part& part : reproduction_parts()) {
    list += fmt::format("\n  {:<19} {}", part.key, part.title);
  }
  return list;
}

/// The message for a word that is not one of `known`, or nothing; a wrong word is a usage error.
std::string refuse_unknown(const std::string& word, const std::vector<std::string>& known) {
  for (const std::string& candidate : known) {
    if (word == candidate) return {};
  }
  const auto guess = nearest(word, known);
  return fmt::format("\"{}\" is not one of {}{}", printable(word), fmt::join(known, ", "),
                     guess ? fmt::format(" (did you mean {}?)", *guess) : "");
}

/// A TerminalObserver that says which parts are done, from ten seconds after its construction.
class PartObserver final : public Observer {
 public:
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    terminal_.progress(stage, done, total);
  }
  void record(std::string_view topic, std::string_view message) override {
    if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(10)) return;
    terminal_.finish();
    const std::string line = fmt::format("{}: {}\n", topic, message);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  [[nodiscard]] bool stop_requested() const override { return terminal_.stop_requested(); }
  void finish() { terminal_.finish(); }

 private:
  TerminalObserver terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The command that goes on where this one stopped.
std::string again(const Options& options) {
  std::string command = fmt::format("sfumato reproduce --scale {} --out {}", options.scale,
                                    options.request.directory);
  if (!options.request.only.empty()) {
    command += fmt::format(" --only {}", fmt::join(options.request.only, ","));
  }
  for (const std::string& setting : options.request.settings) {
    command += fmt::format(" --set '{}'", setting);
  }
  if (options.request.threads != 0)
    command += fmt::format(" --threads {}", options.request.threads);
  return command + (options.request.brief ? " --brief" : "");
}

ExitCode run(Options& options) {
  ExitCode code = kFine;
  options.request.scale = options.scale == "paper" ? RunScale::paper : RunScale::quick;
  options.request.written = time_now();
  PartObserver observer;
  Reproduction result = reproduce(
      options.request,
      new_document("reproduce", "Reproduction of the paper (" + options.scale + " scale)"),
      observer);
  observer.finish();
  if (!result.stopped_in.empty()) {
    result.document.state(StatementKind::summary,
                          fmt::format("Stopped in {}; trained models are kept. Go on: {}",
                                      result.stopped_in, again(options)));
    code = kInterrupted;
  }
  print(result.document, options.json);
  return code;
}

}  // namespace

void add_reproduce(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "reproduce", "Make the paper's tables and figures again, next to its own words and numbers");
  const auto options = std::make_shared<Options>();
  command->add_option("--out", options->request.directory, "Directory for the files (made if new)")
      ->required()
      ->check(
          [](const std::string& path) {
            return std::string(path.empty() ? "the path is empty" : "");
          },
          "");
  command->add_option("--scale", options->scale, "quick (default) or paper")
      ->check(
          [](const std::string& word) {
            return refuse_unknown(word, {"quick", "paper"});
          },
          "");
  command->add_option("--only", options->request.only, "Only these parts (repeatable)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PART,PART")
      ->check([](const std::string& word) { return refuse_unknown(word, part_keys()); }, "");
  command->add_flag("--brief", options->request.brief,
                    "Print only what became of the paper's statements");
  command
      ->add_option("--threads", options->request.threads,
                   "Models trained at once (default: all cores)")
      ->check(CLI::Range(0, 4096));
  command
      ->add_option("--set", options->request.settings,
                   "Override a key of every study, to make it smaller still: key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_group_flag(*command);
  add_json_flag(*command, options->json);
  command->footer("Parts:" + part_list() +
                  "\nExample:\n  sfumato reproduce --scale quick --out results\n"
                  "Run it again to go on after an interruption: trained models are kept.");
  commands.push_back({command, [options] { return run(*options); }});
}

}  // namespace sfumato::cli
