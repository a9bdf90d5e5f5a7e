#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/number_check.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/keys/toml_text.hpp"

/// Keys by what they hold: one line each in a table of keys.
namespace sfumato::keys {

/// Throws   InvalidArgument: `key` = value is not what is expected.
[[noreturn]] void refuse(const TomlTable& table, const std::string& key, const std::string& value,
                         const std::string& expected);

/// A number, a list of them each once, or a list of texts, at that key.
/// Throws   InvalidArgument with file:line:column.
[[nodiscard]] double checked_number(const TomlTable& table, const std::string& key,
                                    NumberCheck check);
[[nodiscard]] std::vector<double> checked_numbers(const TomlTable& table, const std::string& key,
                                                  NumberCheck check);
[[nodiscard]] std::vector<std::string> checked_texts(const TomlTable& table,
                                                     const std::string& key);

template <class T>
[[nodiscard]] Key<T> text_key(const char* name, const char* type, const char* help,
                              std::string T::*member) {
  return {name, type, help,
          [member](T& to, const TomlTable& table, const std::string& key) {
            to.*member = table.string(key);
          },
          [member](const T& from) {
            return (from.*member).empty() ? std::string() : toml_text(from.*member);
          }};
}

template <class T>
[[nodiscard]] Key<T> path_key(const char* name, const char* help, std::string T::*member) {
  Key<T> key = text_key<T>(name, "path", help, member);
  key.is_file = true;
  key.read = [member](T& to, const TomlTable& table, const std::string& given) {
    to.*member = absolute_path(table.path(given));
  };
  return key;
}

/// As path_key, but as it was written: relative to the working directory, as people like to read it.
template <class T>
[[nodiscard]] Key<T> file_key(const char* name, const char* help, std::string T::*member) {
  Key<T> key = text_key<T>(name, "path", help, member);
  key.is_file = true;
  key.read = [member](T& to, const TomlTable& table, const std::string& given) {
    to.*member = table.path(given);
  };
  return key;
}

/// As file_key(), of a file or directory that is written.
template <class T>
[[nodiscard]] Key<T> output_key(const char* name, const char* help, std::string T::*member) {
  Key<T> key = file_key<T>(name, help, member);
  key.is_file = false;
  return key;
}

/// A list of files, each as file_key() has it; one is a list of one.
template <class T>
[[nodiscard]] Key<T> files_key(const char* name, const char* help,
                               std::vector<std::string> T::*member) {
  return {name,
          "paths",
          help,
          [member](T& to, const TomlTable& table, const std::string& key) {
            to.*member = table.paths(key);
          },
          [member](const T& from) {
            std::vector<std::string> quoted;
            for (const std::string& path : from.*member) quoted.push_back(toml_text(path));
            return quoted.empty() ? std::string() : fmt::format("[{}]", fmt::join(quoted, ", "));
          },
          {},
          false,
          {},
          KeyShape::texts,
          true};
}

/// A number that passes `check`, or the path of a file as file_key has it.
template <class T>
[[nodiscard]] Key<T> number_or_file_key(const char* name, const char* help,
                                        std::variant<double, std::string> T::*member,
                                        NumberCheck check) {
  return {name,
          "number | path",
          help,
          [member, check](T& to, const TomlTable& table, const std::string& key) {
            if (table.is_string(key)) {
              to.*member = table.path(key);
            } else {
              to.*member = checked_number(table, key, check);
            }
          },
          [member](const T& from) {
            const auto* number = std::get_if<double>(&(from.*member));
            return number != nullptr ? toml_text(*number)
                                     : toml_text(std::get<std::string>(from.*member));
          },
          {},
          false,
          {},
          KeyShape::any,
          true};
}

/// An integer of any width, at least `least` and at most `most`.
template <class T, class Integer>
[[nodiscard]] Key<T> integer_key(const char* name, const char* help, Integer T::*member,
                                 std::int64_t least,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const std::string type = fmt::format("integer >= {}", least);
  return {name,
          type,
          help,
          [member, least, most](T& to, const TomlTable& table, const std::string& key) {
            const std::int64_t value = table.integer(key);
            const auto end = static_cast<std::int64_t>(
                std::min(static_cast<std::uint64_t>(most),
                         static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())));
            if (value < least || value > end) {
              refuse(table, key, fmt::format("{}", value),
                     fmt::format("an integer from {} to {}", least, end));
            }
            to.*member = static_cast<Integer>(value);
          },
          [member](const T& from) { return fmt::format("{}", from.*member); },
          {},
          false,
          {},
          KeyShape::number};
}

/// The same for one that may be left out.
template <class T, class Integer>
[[nodiscard]] Key<T> integer_key(const char* name, const char* help,
                                 std::optional<Integer> T::*member, std::int64_t least,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  struct One {
    Integer value = {};
  };
  const Key<One> one = integer_key<One, Integer>(name, help, &One::value, least, most);
  return {name,
          one.type,
          help,
          [member, read = one.read](T& to, const TomlTable& table, const std::string& key) {
            One read_into;
            read(read_into, table, key);
            to.*member = read_into.value;
          },
          [member](const T& from) {
            return from.*member ? fmt::format("{}", *(from.*member)) : std::string();
          },
          {},
          false,
          {},
          KeyShape::number};
}

/// As integer_key, where 0 is the default and stands for something else, which `help` says.
template <class T, class Integer>
[[nodiscard]] Key<T> optional_integer_key(const char* name, const char* help, Integer T::*member) {
  Key<T> key = integer_key<T>(name, help, member, 1);
  key.write = [member](const T& from) {
    return from.*member == 0 ? std::string() : fmt::format("{}", from.*member);
  };
  return key;
}

template <class T>
[[nodiscard]] Key<T> positive_key(const char* name, const char* help, double T::*member) {
  return {name,
          "number > 0",
          help,
          [member](T& to, const TomlTable& table, const std::string& key) {
            const double value = table.number(key);
            if (!(std::isfinite(value) && value > 0.0)) {
              refuse(table, key, fmt::format("{}", value), "a finite positive number");
            }
            to.*member = value;
          },
          [member](const T& from) {
            return from.*member > 0.0 ? toml_text(from.*member) : std::string();
          },
          {},
          false,
          {},
          KeyShape::number};
}

template <class T>
[[nodiscard]] Key<T> flag_key(const char* name, const char* help, bool T::*member) {
  return {name,
          "true | false",
          help,
          [member](T& to, const TomlTable& table, const std::string& key) {
            to.*member = table.boolean(key);
          },
          [member](const T& from) { return from.*member ? "true" : "false"; },
          {},
          false,
          {},
          KeyShape::flag};
}

template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

template <class E>
Choices<E> by_name(std::initializer_list<E> values) {
  Choices<E> choices;
  for (const E value : values) choices.emplace_back(name(value), value);
  return choices;
}

template <class T, class E>
[[nodiscard]] Key<T> choice_key(const char* key_name, const char* help, E T::*member,
                                Choices<E> choices) {
  std::vector<std::string> names;
  for (const auto& [text, value] : choices) names.push_back(text);
  return {key_name, fmt::format("{}", fmt::join(names, " | ")), help,
          [=](T& to, const TomlTable& table, const std::string& key) {
            const std::string given = table.string(key);
            for (const auto& [text, value] : choices) {
              if (text != given) continue;
              to.*member = value;
              return;
            }
            throw InvalidArgument(
                fmt::format("{} = {} is unknown", table.label(key), toml_text(given)),
                suggestion(given, names, "values"), table.where(key));
          },
          [=](const T& from) {
            for (const auto& [text, value] : choices) {
              if (value == from.*member) return toml_text(text);
            }
            throw InternalError("a setting that no text stands for");
          }};
}

/// The same for one that may be left out.
template <class T, class E>
[[nodiscard]] Key<T> choice_key(const char* key_name, const char* help, std::optional<E> T::*member,
                                Choices<E> choices) {
  struct One {
    E value{};
  };
  const Key<One> one = choice_key<One, E>(key_name, help, &One::value, std::move(choices));
  return {key_name, one.type, help,
          [member, read = one.read](T& to, const TomlTable& table, const std::string& key) {
            One given;
            read(given, table, key);
            to.*member = given.value;
          },
          [member, write = one.write](const T& from) {
            return from.*member ? write({*(from.*member)}) : std::string();
          }};
}

template <class T>
[[nodiscard]] Key<T> with(Key<T> key, const std::vector<std::string>& aliases) {
  key.aliases = aliases;
  return key;
}

template <class T>
[[nodiscard]] Key<T> required(Key<T> key) {
  key.required = true;
  return key;
}

/// A number that passes `check`; `type` says which do.
template <class T>
[[nodiscard]] Key<T> number_key(const char* name, const char* type, const char* help,
                                double T::*member, NumberCheck check) {
  return {name,
          type,
          help,
          [member, check](T& to, const TomlTable& table, const std::string& key) {
            to.*member = checked_number(table, key, check);
          },
          [member](const T& from) { return toml_text(from.*member); },
          {},
          false,
          {},
          KeyShape::number};
}

/// The same for one that may be left out.
template <class T>
[[nodiscard]] Key<T> number_key(const char* name, const char* type, const char* help,
                                std::optional<double> T::*member, NumberCheck check) {
  return {
      name,
      type,
      help,
      [member, check](T& to, const TomlTable& table, const std::string& key) {
        to.*member = checked_number(table, key, check);
      },
      [member](const T& from) { return from.*member ? toml_text(*(from.*member)) : std::string(); },
      {},
      false,
      {},
      KeyShape::number};
}

/// A list of numbers that pass `check`, each once.
template <class T>
[[nodiscard]] Key<T> numbers_key(const char* name, const char* type, const char* help,
                                 std::vector<double> T::*member, NumberCheck check) {
  return {name,
          type,
          help,
          [member, check](T& to, const TomlTable& table, const std::string& key) {
            to.*member = checked_numbers(table, key, check);
          },
          [member](const T& from) {
            return (from.*member).empty() ? std::string()
                                          : fmt::format("[{}]", fmt::join(from.*member, ", "));
          },
          {},
          false,
          {},
          KeyShape::numbers};
}

/// A list of texts; one text is a list of one.
template <class T>
[[nodiscard]] Key<T> texts_key(const char* name, const char* type, const char* help,
                               std::vector<std::string> T::*member) {
  return {name,
          type,
          help,
          [member](T& to, const TomlTable& table, const std::string& key) {
            to.*member = checked_texts(table, key);
          },
          [member](const T& from) {
            std::vector<std::string> quoted;
            for (const std::string& text : from.*member) quoted.push_back(toml_text(text));
            return quoted.empty() ? std::string() : fmt::format("[{}]", fmt::join(quoted, ", "));
          },
          {},
          false,
          {},
          KeyShape::texts};
}

}  // namespace sfumato::keys
