#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

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
#include "output_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/report/printable.hpp"
#include "sfumato/version.hpp"

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
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say(kOutOfMemory);
    std::_Exit(cli::kBadInput);
  } catch (...) {
    say(kEscaped);
    std::_Exit(cli::kBug);
  }
}

/// All names the user could have meant on this level: subcommands, or the options of a command.
std::vector<std::string> names_of(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
  }
  return names;
}

/// CLI11 reports the first thing it misses ("a subcommand is required"); the user wants to hear
/// about the word that was not understood.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string line = "sfumato";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    line += " " + command->get_name();
  }
  const std::vector<std::string> extras = command->remaining();
  if (!extras.empty()) {
    const bool is_option = extras.front().starts_with("-");
    const auto guess = nearest(extras.front(), names_of(*command, is_option));
    return fmt::format("unknown {} \"{}\". {}Run \"{} --help\".",
                       is_option ? "option" : (command == &app ? "command" : "argument"),
                       printable(extras.front()),
                       guess ? fmt::format("Did you mean {}? ", *guess) : "", line);
  }
  return fmt::format("{}. Run \"{} --help\".", error.what(), line);
}

/// The word after the commands that were understood, where another command must follow: CLI11 would let
/// `sfumato acount --help` pass.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc && level->get_require_subcommand_min() > 0; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) return "";
    const std::vector<const CLI::App*> next = level->get_subcommands(
        [&](const CLI::App* command) { return command->check_name(word); });
    if (next.empty()) {
      const auto guess = nearest(word, names_of(*level, false));
      return fmt::format("unknown command \"{}\". {}Run \"sfumato {}{}--help\".", printable(word),
                         guess ? fmt::format("Did you mean {}? ", *guess) : "",
                         level == &app ? "" : level->get_name(), level == &app ? "" : " ");
    }
    level = next.front();
  }
  return "";
}

/// How the command line calls a key of a question: --ridge-scale, or `differences` for an argument.
std::string option_of(const CLI::App& command, const std::string& key) {
  std::string option = "--" + key;
  std::replace(option.begin(), option.end(), '_', '-');
  return command.get_option_no_throw(option) != nullptr ? option : key;
}

/// Options as the keys of a file are spelt mean the same: --noise_multiplier is --noise-multiplier.
std::vector<std::string> with_dashes(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words) {
    if (!word.starts_with("--")) continue;
    std::replace(word.begin(), std::find(word.begin(), word.end(), '='), '_', '-');
  }
  return words;
}

int run(int argc, char** argv) {
  CLI::App app{"Measures and limits how much a trained model reveals about one training record."};
  app.name("sfumato");
  app.set_version_flag("--version", fmt::format("sfumato {}", kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("\"sfumato COMMAND --help\" shows the options of a command with an example.");
  for (int i = 1; i < argc; ++i) {
    // A script with an unset variable: CLI11 would read an empty number as 0.
    const std::string_view word = argv[i];
    if (!word.empty() && !(word.starts_with("--") && word.ends_with("="))) continue;
    return complain(
        fmt::format("the value after \"{}\" is empty. Give one or leave the option out.",
                    word.empty() ? argv[i - 1] : argv[i]),
        cli::kUsage);
  }
  cli::Commands commands;
  cli::add_account(app, commands);
  cli::add_audit(app, commands);
  cli::add_bound(app, commands);
  cli::add_data(app, commands);
  cli::add_bench(app, commands);
  cli::add_design(app, commands);
  cli::add_quadratic(app, commands);
  cli::add_rows(app, commands);
  cli::add_report(app, commands);
  cli::add_reproduce(app, commands);
  cli::add_train(app, commands);
  cli::add_study(app, commands);
  cli::add_verify(app, commands);
  if (const std::string problem = unknown_command(app, argc, argv); !problem.empty()) {
    return complain(problem, cli::kUsage);
  }
  try {
    std::vector<std::string> words = with_dashes(argc, argv);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    app.parse(argc, pointers.data());
  } catch (const InvalidArgument& error) {  // a list of an option
    return complain(error.what(), cli::kUsage);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      cli::write_output(text.str());
      return cli::kFine;
    }
    return complain(explain(app, error), cli::kUsage);
  }
  const auto asked = std::find_if(commands.begin(), commands.end(),
                                  [](const cli::Command& c) { return c.app->parsed(); });
  if (asked == commands.end()) throw InternalError("a command that does nothing");
  try {
    return asked->run();
  } catch (const InvalidArgument& error) {
    if (error.where().is_option()) return complain(error.what(), cli::kUsage);
    if (!error.where().is_key()) throw;
    return complain(
        fmt::format("{}: {}", option_of(*asked->app, error.where().text()), error.advice()),
        cli::kUsage);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!open_standard_descriptors()) return cli::kStorage;  // and nowhere to say it
  // A file-size limit is a full disk to whoever writes, and is reported as one.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  cli::keep_files_private();
  std::set_terminate(end_with_a_line);
  try {
    return run(argc, argv);
  } catch (const StorageError& error) {
    return complain(error.what(), cli::kStorage);
  } catch (const InternalError& error) {
    return complain(error.what(), cli::kBug);
  } catch (const Error& error) {
    return complain(error.what(), cli::kBadInput);
  } catch (const std::bad_alloc&) {
    say(kOutOfMemory);
    return cli::kBadInput;
  } catch (const std::exception& error) {
    return complain(
        fmt::format("{}. This is a bug: please report it with the command line.", error.what()),
        cli::kBug);
  }
}
