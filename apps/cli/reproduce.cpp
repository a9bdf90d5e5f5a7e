#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "command.hpp"
#include "key_options.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "reproduce/reproduce_keys.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato::apps {
namespace {

struct ReproduceOptions {
  std::string file;
  KeyOptions keys;
  std::vector<std::string> settings;  ///< of --set
  ReproduceRequest request;
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

/// What the command line and its file ask for.
ReproduceRequest read_request(ReproduceOptions& options) {
  if (!options.settings.empty()) options.keys.give("settings", options.settings);
  const TomlTable table = options.keys.table(options.file);
  ReproduceRequest request;
  read_keys(request, table, reproduce_keys());
  if (request.directory.empty()) {
    throw InvalidArgument("the path is empty", "Name a directory", table.where("out"));
  }
  const std::vector<std::string> known = part_keys();
  for (const std::string& word : request.only) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const auto guess = nearest(word, known);
    throw InvalidArgument(
        fmt::format("\"{}\" is not one of {}{}", printable(word), fmt::join(known, ", "),
                    guess ? fmt::format(" (did you mean {}?)", *guess) : ""),
        "", table.where("only"));
  }
  return request;
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
std::string again(const ReproduceOptions& options) {
  std::string command = fmt::format("sfumato reproduce --scale {} --out {}",
                                    name(options.request.scale), options.request.directory);
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

/// The command in one spelling, without the directory: the same parts make the same page.
std::string canonical(const ReproduceOptions& options) {
  std::vector<std::string> keys;
  for (const Part& part : reproduction_parts()) {
    for (const std::string& word : options.request.only) {
      if (part.is_called(word) && (keys.empty() || keys.back() != part.key)) {
        keys.push_back(part.key);
      }
    }
  }
  std::string command = fmt::format("sfumato reproduce --scale {}", name(options.request.scale));
  if (!keys.empty()) command += fmt::format(" --only {}", fmt::join(keys, ","));
  for (const std::string& setting : options.request.settings) {
    command += fmt::format(" --set '{}'", setting);
  }
  return command;
}

ExitCode run(ReproduceOptions& options) {
  ExitCode code = kFine;
  options.request = read_request(options);
  options.request.written = time_now();
  options.request.made = run_facts();
  options.request.made.front().second = canonical(options);
  PartObserver observer;
  Reproduction result =
      reproduce(options.request,
                new_document("reproduce", fmt::format("Reproduction of the paper ({} scale)",
                                                      name(options.request.scale))),
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
      "reproduce",
      "Recompute the paper's tables and figures beside its own statements and numbers");
  const auto options = std::make_shared<ReproduceOptions>();
  command->add_option("FILE", options->file, "TOML file with the options as keys");
  options->keys.declare(*command, infos_of(reproduce_keys()), {"settings"});
  command
      ->add_option("--set", options->settings,
                   "Override a key of every study, to make it smaller still; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_group_flag(*command);
  add_json_flag(*command, options->json);
  command->footer("Parts:" + part_list() +
                  "\nExample:\n  sfumato reproduce --scale quick --out results\n"
                  "After an interruption, run the same command again: trained models are kept.");
  commands.push_back({command, [options] { return run(*options); }});
}

}  // namespace sfumato::apps
