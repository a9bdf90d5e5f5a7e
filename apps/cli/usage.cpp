#include "usage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "sfumato/core/suggest.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato::apps {
namespace {

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

/// --ridge-scale for the key `ridge_scale`, if the command has that option; else empty.
std::string option_of(const CLI::App& command, std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  for (const std::string& option : {"--" + key, "--no-" + key}) {
    if (command.get_option_no_throw(option) != nullptr) return option;
  }
  return "";
}

/// Options that are no keys of a question: a word like one of them, as the sampler `full`, means something else.
bool is_no_key(const std::string& option) {
  return option.empty() || option == "--full" || option == "--json" || option == "--private";
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* level = &app;
  for (std::size_t i = 1; i < words.size() && level->get_require_subcommand_min() > 0; ++i) {
    const std::string& word = words[i];
    if (word.starts_with("-")) continue;  // --help: none takes a value
    const std::vector<const CLI::App*> next =
        level->get_subcommands([&](const CLI::App* command) { return command->check_name(word); });
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

std::string message_of(const CLI::App& command, const Error& error, bool keys_in_file) {
  const bool at_option = error.where().is_key() || error.where().is_option();
  return error.message([&](const std::string& key) -> std::string {
    // Keys are those of the file; `force` is an option of every command and a key of none.
    if (keys_in_file && !at_option && key != "force") return "";
    const std::string option = option_of(command, key);
    return is_no_key(option) ? "" : option;
  });
}

}  // namespace sfumato::apps
