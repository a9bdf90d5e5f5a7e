#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "output_files.hpp"
#include "provenance.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/report/printable.hpp"
#include "sfumato/version.hpp"
#include "usage.hpp"

namespace {

using namespace sfumato;

int complain(const std::string& message, int code) {
  const std::string line = fmt::format("sfumato: {}\n", printable(message));
  (void)std::fputs(line.c_str(), stderr);  // nothing is left to do if this fails
  return code;
}

/// A program may be started with standard input, output or error closed. The next file it opens would get
/// that number, and text meant for a reader would be written into a ledger. Closed means that nobody
/// reads: what is written there is dropped.
bool open_standard_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free: this one, since those below it are open.
    if (::open("/dev/null", O_RDWR) != descriptor) return false;
  }
  return true;
}

// Said without taking memory: there may be none.
constexpr std::string_view kOutOfMemory =
    "sfumato: out of memory. Use a smaller problem or a machine with more.\n";
constexpr std::string_view kEscaped =
    "sfumato: an exception escaped. This is a bug in sfumato: please report it with the command "
    "line.\n";

void say(std::string_view line) {
  // Nothing is left to do if this fails.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// What std::terminate calls: an error that nobody could catch, such as a second failure of memory while
/// the first is reported, still ends in one line and a code.
[[noreturn]] void end_with_a_line() {
  if (!std::current_exception()) {  // out of a function that may not throw: nothing to throw again
    say(kEscaped);
    std::_Exit(apps::kBug);
  }
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say(kOutOfMemory);
    std::_Exit(apps::kBadInput);
  } catch (...) {
    say(kEscaped);
    std::_Exit(apps::kBug);
  }
}

/// The words of the command line. Options as the keys of a file are spelt mean the same: --noise_multiplier is
/// --noise-multiplier; `sfumato help rows` is `sfumato rows --help`, and sfumato alone asks for help.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (words.size() == 2 && words[1] == "help") words.pop_back();
  if (words.size() < 2) {
    words.emplace_back("--help");
  } else if (words[1] == "help") {
    words.erase(words.begin() + 1);
    words.emplace_back("--help");
  }
  for (std::string& word : words) {
    if (!word.starts_with("--")) continue;
    std::replace(word.begin(), std::find(word.begin(), word.end(), '='), '_', '-');
  }
  return words;
}

/// Whether the command line names a TOML file, in which keys stand.
bool names_a_file(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* word) { return std::string_view(word).ends_with(".toml"); });
}

/// Whether the argument FILE, which has keys whatever its name, is given; JSON is the state of another tool.
bool has_file_of_keys(const CLI::App& command) {
  const CLI::Option* file = command.get_option_no_throw("FILE");
  return file != nullptr && file->count() > 0 && !file->results().front().ends_with(".json");
}

int run(int argc, char** argv) {
  apps::remember_command_line(argc, argv);
  CLI::App app{"Measure and limit how much a trained model reveals about one training record"};
  app.name("sfumato");
  app.set_version_flag("-V,--version", fmt::format("sfumato {}", kVersion));
  app.set_help_all_flag("--help-all", "Print this help message with all options and exit");
  app.require_subcommand(1);
  app.formatter(apps::help_format());
  app.footer("sfumato help COMMAND prints the options of a command and an example.");
  for (int i = 1; i < argc; ++i) {
    // A script with an unset variable: CLI11 would read an empty number as 0.
    const std::string_view word = argv[i];
    if (!word.empty() && !(word.starts_with("--") && word.ends_with("="))) continue;
    return complain(
        fmt::format("the value after \"{}\" is empty. Give one or leave the option out.",
                    word.empty() ? argv[i - 1] : argv[i]),
        apps::kUsage);
  }
  apps::Commands commands;
  apps::add_rows(app, commands);
  apps::add_quadratic(app, commands);
  apps::add_bound(app, commands);
  apps::add_design(app, commands);
  apps::add_fit(app, commands);
  apps::add_account(app, commands);
  apps::add_budget(app, commands);
  apps::add_train(app, commands);
  apps::add_study(app, commands);
  apps::add_audit(app, commands);
  apps::add_report(app, commands);
  apps::add_reproduce(app, commands);
  apps::add_data(app, commands);
  apps::add_verify(app, commands);
  apps::add_bench(app, commands);
  for (CLI::App* level : {&app, app.get_subcommand("study"), app.get_subcommand("budget"),
                          app.get_subcommand("data"), app.get_subcommand("bench")}) {
    for (CLI::App* command : level->get_subcommands({})) command->group("Commands");
  }
  std::vector<std::string> words = words_of(argc, argv);
  if (const std::string problem = apps::unknown_command(app, words); !problem.empty()) {
    return complain(problem, apps::kUsage);
  }
  try {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const InvalidArgument& error) {  // a list of an option
    return complain(error.what(), apps::kUsage);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      apps::write_output(text.str());
      return apps::kFine;
    }
    return complain(apps::explain(app, error), apps::kUsage);
  }
  const auto asked = std::find_if(commands.begin(), commands.end(),
                                  [](const apps::Command& c) { return c.app->parsed(); });
  if (asked == commands.end()) throw InternalError("a command that does nothing");
  const bool in_file =
      !asked->reads_study && (names_a_file(argc, argv) || has_file_of_keys(*asked->app));
  try {
    return asked->run();
  } catch (const StorageError& error) {
    return complain(apps::message_of(*asked->app, error, in_file), apps::kStorage);
  } catch (const InvalidArgument& error) {
    const bool usage = error.where().is_option() || error.where().is_key();
    return complain(apps::message_of(*asked->app, error, in_file),
                    usage ? apps::kUsage : apps::kBadInput);
  } catch (const NumericalFailure& error) {
    return complain(apps::message_of(*asked->app, error, in_file), apps::kBadInput);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!open_standard_descriptors()) return apps::kStorage;  // and nowhere to say it
  // A file-size limit is a full disk to whoever writes, and is reported as one.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  apps::keep_files_private();
  std::set_terminate(end_with_a_line);
  try {
    return run(argc, argv);
  } catch (const Stopped&) {  // before there was anything to show
    return complain("stopped before there was a result: none was written.", apps::kInterrupted);
  } catch (const StorageError& error) {
    return complain(error.what(), apps::kStorage);
  } catch (const InternalError& error) {
    return complain(error.what(), apps::kBug);
  } catch (const Error& error) {
    return complain(error.what(), apps::kBadInput);
  } catch (const std::bad_alloc&) {
    say(kOutOfMemory);
    return apps::kBadInput;
  } catch (const std::exception& error) {
    return complain(
        fmt::format("{}. This is a bug: please report it with the command line.", error.what()),
        apps::kBug);
  }
}
