#include "usage.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
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

/// The text with the keys in it, `ridge`, as the options of the command, --ridge; all of them, or that one.
std::string with_options(const CLI::App& command, std::string_view text,
                         std::string_view only = {}) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == text.npos ? text.npos : text.find('`', open + 1);
    if (close == text.npos) return result.append(text);
    const std::string_view quoted = text.substr(open, close + 1 - open);
    const std::string key(quoted.substr(1, quoted.size() - 2));
    const std::string option = only.empty() || key == only ? option_of(command, key) : "";
    result.append(text.substr(0, open)).append(is_no_key(option) ? quoted : option);
    text.remove_prefix(close + 1);
  }
}

/// What is wrong with the value of an option, without the key that it stands for:
/// "`risk.delta`: 2 is not ..." and "`steps` = 2.5 is not ..." begin with the number.
std::string_view without_label(std::string_view advice) {
  if (!advice.starts_with('`')) return advice;
  const std::size_t close = advice.find('`', 1);
  if (close == advice.npos) return advice;
  const std::string_view rest = advice.substr(close + 1);
  for (const std::string_view joint : {": ", " = ", " "}) {
    if (rest.starts_with(joint)) return rest.substr(joint.size());
  }
  return advice;
}

}  // namespace

std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc && level->get_require_subcommand_min() > 0; ++i) {
    const std::string word = argv[i];
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
  const Where& where = error.where();
  if (where.is_key()) {
    const std::string option = option_of(command, where.text());
    return fmt::format("{}: {}", option.empty() ? where.text() : option,
                       with_options(command, error.advice()));
  }
  if (where.is_option()) {
    return fmt::format("{}: {}", where.text(),
                       with_options(command, without_label(error.advice())));
  }
  if (!keys_in_file) return with_options(command, error.what());
  // Keys are those of the file; this one is an option of every command and a key of none.
  return with_options(command, error.what(), "force");
}

}  // namespace sfumato::apps
