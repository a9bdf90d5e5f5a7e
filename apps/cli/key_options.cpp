#include "key_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "help.hpp"
#include "list_option.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/keys/toml_text.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato::apps {
namespace {

std::string option_name(const std::string& key) {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// TABLE for the key `table` that has no option.
std::string argument_name(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return key;
}

/// A number as TOML; an integer keeps all its digits, which a double need not have.
std::string toml_number(const std::string& option, const std::string& text) {
  const double value = parse_option_number(option, text, false);
  const bool digits = text.size() > 15 && text.size() < 20 && text[0] != '0' &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? text : toml_text(value);
}

/// What a value looks like: in capitals, or the choice that there is.
std::string value_name(const KeyInfo& key) {
  if (!key.value.empty()) return key.value;
  switch (key.shape) {
    case KeyShape::text: return "NAME";
    case KeyShape::number: return "X";
    case KeyShape::flag: return "";
    case KeyShape::texts: return "NAME,NAME";
    case KeyShape::numbers: return "X,X";
    case KeyShape::any: return "X|FILE";
  }
  throw InternalError("a shape without a name");
}

std::string help_of(const KeyInfo& key) {
  std::string help = key.help;
  // A sentence begins with a capital; code keeps its letters.
  const std::string first = help.substr(0, help.find_first_of(" ,"));
  const bool is_name =
      first.find('_') != std::string::npos || help.substr(first.size()).starts_with(" = ");
  if (!help.empty() && !is_name)
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  if (key.tells_choices) help += fmt::format(": {}", key.type);
  std::string value = key.fallback;
  std::erase_if(value, [](char c) { return c == '"' || c == '[' || c == ']'; });
  if (!value.empty() && key.shape != KeyShape::flag) help += fmt::format(" (default: {})", value);
  return help;
}

/// What was typed, as TOML.
std::string toml_of(const KeyInfo& key, const std::vector<std::string>& given, bool argument) {
  const std::string option = option_name(key.key);
  switch (key.shape) {
    case KeyShape::text: return toml_text(given.back());
    case KeyShape::flag: return given.back();
    case KeyShape::number: return toml_number(option, given.back());
    case KeyShape::numbers: {
      std::vector<std::string> values;
      for (const std::string& item : split_option(option, given)) {
        values.push_back(toml_text(parse_option_number(option, item)));
      }
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    case KeyShape::texts: {
      std::vector<std::string> values;
      // Arguments are words of the command line; a comma belongs to the word.
      for (const std::string& item : argument ? given : split_option(option, given)) {
        values.push_back(toml_text(item));
      }
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    case KeyShape::any: {
      const ParsedNumber number = parse_number(given.back());
      return number.status == NumberStatus::ok ? toml_text(number.value) : toml_text(given.back());
    }
  }
  throw InternalError("a shape that cannot be written");
}

}  // namespace

void KeyOptions::declare(CLI::App& command, const std::vector<KeyInfo>& keys,
                         const std::vector<std::string>& arguments) {
  command_ = command.get_name();
  keys_ = keys;
  arguments_ = arguments;
  for (const KeyInfo& key : keys_) {
    std::vector<std::string>& texts = given_[key.key];
    if (std::find(arguments.begin(), arguments.end(), key.key) != arguments.end()) continue;
    std::string names = option_name(key.key);
    for (const std::string& alias : key.aliases) names += "," + option_name(alias);
    if (key.shape == KeyShape::flag) {
      const bool on = key.fallback == "true";
      command.add_flag_callback(
          on ? "--no-" + names.substr(2) : names, [&texts, on] { texts = {on ? "false" : "true"}; },
          on ? "Do not " + key.help : help_of(key));
      continue;
    }
    CLI::Option* option = nullptr;
    if (key.shape == KeyShape::texts || key.shape == KeyShape::numbers) {
      option = command
                   .add_option_function<std::vector<std::string>>(
                       names, [&texts](const std::vector<std::string>& all) { texts = all; },
                       help_of(key))
                   ->allow_extra_args(false)
                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    } else {
      option = command.add_option_function<std::string>(
          names, [&texts](const std::string& text) { texts = {text}; }, help_of(key));
    }
    option->type_name(value_name(key));
    if (key.required) option->group(kRequiredGroup);
  }
}

void KeyOptions::declare_settings(CLI::App& command) {
  command
      .add_option("--set", settings_, "Override a key of the file, as in delta=1e-6; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void add_settings(CLI::App& command, std::vector<std::string>& settings) {
  command.add_option("--set", settings, "Override a key, as in train.iterations=200; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

std::string KeyOptions::text(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() || found->second.empty() ? std::string() : found->second.front();
}

void KeyOptions::give(const std::string& key, const std::vector<std::string>& texts) {
  given_[key] = texts == std::vector<std::string>{""} ? std::vector<std::string>{} : texts;
}

void KeyOptions::waive(const std::string& name) {
  for (KeyInfo& key : keys_) {
    if (key.key == name) key.required = false;
  }
}

bool KeyOptions::empty() const {
  return settings_.empty() && std::all_of(given_.begin(), given_.end(),
                                          [](const auto& key) { return key.second.empty(); });
}

TomlTable KeyOptions::table(const std::string& file) const {
  std::vector<TomlOverride> overrides;
  std::vector<std::string> missing;
  for (const KeyInfo& key : keys_) {
    const std::vector<std::string>& given = given_.at(key.key);
    const bool argument =
        std::find(arguments_.begin(), arguments_.end(), key.key) != arguments_.end();
    const std::string name = argument ? argument_name(key.key) : option_name(key.key);
    if (given.empty()) {
      if (key.required) missing.push_back(fmt::format("{} ({})", name, key.help));
      continue;
    }
    TomlOverride override;
    if (!key.table.empty()) override.path.push_back(key.table);
    override.path.push_back(key.key);
    override.value = toml_of(key, given, argument);
    override.source = name;
    override.is_option = !argument;
    override.replaces = key.aliases;
    override.replaces.push_back(key.key);
    overrides.push_back(std::move(override));
  }
  for (const std::string& setting : settings_) {
    TomlOverride override = setting_of(setting);
    for (const KeyInfo& key : keys_) {
      std::vector<std::string> spellings = key.aliases;
      spellings.push_back(key.key);
      const bool same_table = override.path.size() == (key.table.empty() ? 1U : 2U) &&
                              (key.table.empty() || override.path.front() == key.table);
      if (same_table &&
          std::find(spellings.begin(), spellings.end(), override.path.back()) != spellings.end()) {
        override.replaces = spellings;
      }
    }
    overrides.push_back(std::move(override));
  }
  if (!file.empty()) return TomlTable::read(file, overrides);
  if (!missing.empty()) {
    throw InvalidArgument(
        fmt::format("missing: {}", fmt::join(missing, ", ")),
        fmt::format("Give {}, or a TOML file that does", missing.size() == 1 ? "it" : "them"),
        Where::option(command_));
  }
  return TomlTable::parse("", "command line", overrides);
}

std::vector<std::string> KeyOptions::inputs(const TomlTable& table, const std::string& file) const {
  std::vector<std::string> files = input_files(keys_, table);
  files.push_back(file);
  return files;
}

std::string keys_text(const std::vector<KeyInfo>& keys) {
  constexpr std::size_t kIndent = 26;
  constexpr std::size_t kWidth = 80;
  std::string text;
  for (const KeyInfo& key : keys) {
    std::string line = fmt::format("  {}{}{}", key.table, key.table.empty() ? "" : ".", key.key);
    std::string help = key.help;
    if (!key.fallback.empty()) help += fmt::format(" (default: {})", key.fallback);
    line.resize(std::max(line.size() + 1, kIndent), ' ');
    std::size_t from = 0;
    for (std::size_t end = 0; from < help.size(); from = end + 1) {
      end = std::min(help.find(' ', from), help.size());
      if (line.size() + (end - from) > kWidth && line.size() > kIndent) {
        text += line + "\n";
        line = std::string(kIndent, ' ');
      }
      if (line.size() > kIndent && line.back() != ' ') line += ' ';
      line += help.substr(from, end - from);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace sfumato::apps
