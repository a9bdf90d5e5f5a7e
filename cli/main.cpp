#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "command.hpp"
#include "sfumato/core/error.hpp"

namespace {

using namespace sfumato;

int complain(const std::string& message, int code) {
  fmt::print(stderr, "sfumato: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app{"Measures and limits how much a trained model reveals about one training record."};
  app.name("sfumato");
  app.set_version_flag("--version", std::string("sfumato ") + SFUMATO_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("\"sfumato COMMAND --help\" shows the options of a command with an example.");
  int exit_code = cli::kFine;
  cli::add_verify(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    std::string command = "sfumato";
    for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
    return complain(fmt::format("{}. Run \"{} --help\".", error.what(), command), cli::kUsage);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const StorageError& error) {
    return complain(error.what(), cli::kStorage);
  } catch (const InternalError& error) {
    return complain(error.what(), cli::kBug);
  } catch (const Error& error) {
    return complain(error.what(), cli::kBadInput);
  } catch (const std::bad_alloc&) {
    return complain("out of memory. Use a smaller problem or a machine with more.", cli::kBadInput);
  } catch (const std::exception& error) {
    return complain(
        fmt::format("{}. This is a bug: please report it with the command line.", error.what()),
        cli::kBug);
  }
}
