#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/check.hpp"
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

/// How a value is read and written, whatever struct it is a member of.
template <class V>
struct Codec {
  std::string type;  ///< for people
  std::function<V(const TomlTable&, const std::string& key)> read;
  std::function<std::string(const V&)> write;  ///< as TOML; empty: not set, left out
  KeyShape shape = KeyShape::text;
  bool is_file = false;
  std::string value = {};  ///< how usage shows one, as of Key
  bool tells_choices = false;
};

[[nodiscard]] Codec<std::string> text_value(const char* type);
/// The path of a file that is read, absolute or as it was written: relative to the working directory, as people like to read it.
[[nodiscard]] Codec<std::string> path_value(bool absolute);
[[nodiscard]] Codec<std::vector<std::string>> paths_value();
[[nodiscard]] Codec<std::variant<double, std::string>> number_or_file_value(NumberCheck check);
[[nodiscard]] Codec<std::int64_t> integer_value(std::int64_t least, std::int64_t most);
[[nodiscard]] Codec<double> positive_value();
[[nodiscard]] Codec<bool> flag_value();
[[nodiscard]] Codec<double> number_value(const char* type, NumberCheck check);
[[nodiscard]] Codec<std::vector<double>> numbers_value(const char* type, NumberCheck check);
[[nodiscard]] Codec<std::vector<std::string>> texts_value(const char* type);

/// A key of a member, by the codec of its values.
template <class T, class V>
[[nodiscard]] Key<T> member_key(const char* name, const char* help, V T::*member, Codec<V> codec) {
  return {
      name,
      std::move(codec.type),
      help,
      [member, read = std::move(codec.read)](
          T& to, const TomlTable& table, const std::string& key) { to.*member = read(table, key); },
      [member, write = std::move(codec.write)](const T& from) { return write(from.*member); },
      {},
      false,
      {},
      codec.shape,
      codec.is_file,
      std::move(codec.value),
      codec.tells_choices};
}
/// The same of one that may be left out.
template <class T, class V>
[[nodiscard]] Key<T> member_key(const char* name, const char* help, std::optional<V> T::*member,
                                Codec<V> codec) {
  return member_key<T, std::optional<V>>(
      name, help, member,
      {std::move(codec.type), std::move(codec.read),
       [write = std::move(codec.write)](const std::optional<V>& value) {
         return value ? write(*value) : std::string();
       },
       codec.shape, codec.is_file, std::move(codec.value), codec.tells_choices});
}

template <class T>
[[nodiscard]] Key<T> text_key(const char* name, const char* type, const char* help,
                              std::string T::*member) {
  return member_key(name, help, member, text_value(type));
}

template <class T>
[[nodiscard]] Key<T> path_key(const char* name, const char* help, std::string T::*member) {
  return member_key(name, help, member, path_value(true));
}

/// As path_key, but as it was written.
template <class T>
[[nodiscard]] Key<T> file_key(const char* name, const char* help, std::string T::*member) {
  return member_key(name, help, member, path_value(false));
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
  return member_key(name, help, member, paths_value());
}

/// A number that passes `check`, or the path of a file as file_key has it.
template <class T>
[[nodiscard]] Key<T> number_or_file_key(const char* name, const char* help,
                                        std::variant<double, std::string> T::*member,
                                        NumberCheck check) {
  return member_key(name, help, member, number_or_file_value(check));
}

/// integer_value() of any width.
template <class Integer>
[[nodiscard]] Codec<Integer> narrow_integer(std::int64_t least, std::int64_t most) {
  const auto end = static_cast<std::int64_t>(
      std::min(static_cast<std::uint64_t>(most),
               static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())));
  Codec<std::int64_t> wide = integer_value(least, end);
  return {std::move(wide.type),
          [read = std::move(wide.read)](const TomlTable& table, const std::string& key) {
            return static_cast<Integer>(read(table, key));
          },
          [](const Integer& value) { return fmt::format("{}", value); },
          wide.shape,
          false,
          std::move(wide.value)};
}

/// An integer of any width, at least `least` and at most `most`.
template <class T, class Integer>
[[nodiscard]] Key<T> integer_key(const char* name, const char* help, Integer T::*member,
                                 std::int64_t least,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return member_key(name, help, member, narrow_integer<Integer>(least, most));
}
/// The same for one that may be left out.
template <class T, class Integer>
[[nodiscard]] Key<T> integer_key(const char* name, const char* help,
                                 std::optional<Integer> T::*member, std::int64_t least,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return member_key(name, help, member, narrow_integer<Integer>(least, most));
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
  return member_key(name, help, member, positive_value());
}

template <class T>
[[nodiscard]] Key<T> flag_key(const char* name, const char* help, bool T::*member) {
  return member_key(name, help, member, flag_value());
}

template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

template <class E>
Choices<E> by_name(std::initializer_list<E> values) {
  Choices<E> choices;
  for (const E value : values) choices.emplace_back(name(value), value);
  return choices;
}

template <class E>
[[nodiscard]] Codec<E> choice_value(const Choices<E>& choices) {
  constexpr std::size_t kColumn = 16;  // of usage, for the form of a value
  std::vector<std::string> names;
  for (const auto& [text, value] : choices) names.push_back(text);
  Codec<E> codec = {fmt::format("{}", fmt::join(names, " | ")),
                    [=](const TomlTable& table, const std::string& key) -> E {
                      const std::string given = table.string(key);
                      for (const auto& [text, value] : choices) {
                        if (text == given) return value;
                      }
                      throw InvalidArgument(
                          table.problem(key, " = ", toml_text(given) + " is unknown"),
                          suggestion(given, names, "values"), table.where(key));
                    },
                    [=](const E& set) {
                      for (const auto& [text, value] : choices) {
                        if (value == set) return toml_text(text);
                      }
                      throw InternalError("a setting that no text stands for");
                    }};
  codec.value = fmt::format("{}", fmt::join(names, "|"));
  codec.tells_choices = names.size() > 1 && codec.value.size() > kColumn;
  if (names.size() < 2 || codec.tells_choices) codec.value.clear();
  return codec;
}

template <class T, class E>
[[nodiscard]] Key<T> choice_key(const char* name, const char* help, E T::*member,
                                Choices<E> choices) {
  return member_key(name, help, member, choice_value<E>(choices));
}
/// The same for one that may be left out.
template <class T, class E>
[[nodiscard]] Key<T> choice_key(const char* name, const char* help, std::optional<E> T::*member,
                                Choices<E> choices) {
  return member_key(name, help, member, choice_value<E>(choices));
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
  return member_key(name, help, member, number_value(type, check));
}
/// The same for one that may be left out.
template <class T>
[[nodiscard]] Key<T> number_key(const char* name, const char* type, const char* help,
                                std::optional<double> T::*member, NumberCheck check) {
  return member_key(name, help, member, number_value(type, check));
}

/// A list of numbers that pass `check`, each once.
template <class T>
[[nodiscard]] Key<T> numbers_key(const char* name, const char* type, const char* help,
                                 std::vector<double> T::*member, NumberCheck check) {
  return member_key(name, help, member, numbers_value(type, check));
}

/// A list of texts; one text is a list of one.
template <class T>
[[nodiscard]] Key<T> texts_key(const char* name, const char* type, const char* help,
                               std::vector<std::string> T::*member) {
  return member_key(name, help, member, texts_value(type));
}

}  // namespace sfumato::keys
