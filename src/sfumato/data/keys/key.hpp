#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato {

/// `key=value` of --set, the key a path from the root: train.seed=3, d.Sigma=[1, 2].
/// Throws   InvalidArgument if it is not of that form.
[[nodiscard]] TomlOverride setting_of(const std::string& text);

/// The form of a key's value where it is not written as TOML: on a command line.
enum class KeyShape {
  text,
  number,
  flag,     ///< given or not; --no-NAME says false
  texts,    ///< a,b
  numbers,  ///< 1,2,inf
  any,      ///< a number, or else a text: `1` or the path of a file
};

/// One key of a question: everything that reading, writing and explaining it needs, in one place. T is
/// the struct that the keys fill.
template <class T>
struct Key {
  std::string name;
  std::string type;  ///< for people: "integer >= 1"
  std::string help;
  std::function<void(T&, const TomlTable&, const std::string& key)> read;
  std::function<std::string(const T&)> write;  ///< as TOML; empty: not set, left out
  std::vector<std::string> aliases = {};
  bool required = false;
  std::vector<std::string> kinds = {};  ///< of models that have it; empty: all
  KeyShape shape = KeyShape::text;
  bool is_file = false;  ///< the value is, or may be, the path of a file that is read
  std::string value =
      {};  ///< how usage shows a value: N, FILE, remove|replace; empty: by its shape
  bool tells_choices = false;  ///< whether help has to say the type, since `value` does not
};

/// The key with another way to show its values.
template <class T>
[[nodiscard]] Key<T> shown_as(Key<T> key, const char* value) {
  key.value = value;
  return key;
}

/// A key of a part of W as one of W.
template <class W, class T>
[[nodiscard]] Key<W> of_part(const Key<T>& key, T W::*part) {
  return {key.name,
          key.type,
          key.help,
          [part, read = key.read](W& to, const TomlTable& table, const std::string& name) {
            read(to.*part, table, name);
          },
          [part, write = key.write](const W& from) { return write(from.*part); },
          key.aliases,
          key.required,
          key.kinds,
          key.shape,
          key.is_file,
          key.value,
          key.tells_choices};
}

template <class T>
using Keys = std::vector<Key<T>>;

/// A key as the documentation shows it.
struct KeyInfo {
  std::string table;  ///< empty: at the top of the file
  std::string key;
  std::vector<std::string> aliases;
  std::string type;
  std::string fallback;  ///< the default as TOML; empty: none
  bool required = false;
  std::string help;
  KeyShape shape = KeyShape::text;
  bool is_file = false;  ///< as of Key
  std::string value = {};
  bool tells_choices = false;
};

template <class T>
[[nodiscard]] std::vector<std::string> spellings_of(const Key<T>& key) {
  std::vector<std::string> names = {key.name};
  names.insert(names.end(), key.aliases.begin(), key.aliases.end());
  return names;
}

template <class T>
[[nodiscard]] std::vector<std::string> names_of(const Keys<T>& keys) {
  std::vector<std::string> names;
  for (const Key<T>& key : keys) {
    for (std::string& name : spellings_of(key)) names.push_back(std::move(name));
  }
  return names;
}

/// The keys with their defaults, those of a T.
template <class T>
[[nodiscard]] std::vector<KeyInfo> infos_of(const Keys<T>& keys, const std::string& table = "",
                                            const T& defaults = {}) {
  std::vector<KeyInfo> infos;
  for (const Key<T>& key : keys) {
    infos.push_back({table, key.name, key.aliases, key.type,
                     key.required ? std::string() : key.write(defaults), key.required, key.help,
                     key.shape, key.is_file, key.value, key.tells_choices});
  }
  return infos;
}

/// The files that a question reads, by what its table gives for keys that name some.
[[nodiscard]] std::vector<std::string> input_files(const std::vector<KeyInfo>& keys,
                                                   const TomlTable& table);

namespace detail {
/// Throws   InvalidArgument that names all of them.
[[noreturn]] void refuse_missing(const TomlTable& table, const std::vector<KeyInfo>& missing);
/// Throws   InvalidArgument if the table has more than one of the spellings; returns the one it has.
[[nodiscard]] std::string spelling_in(const TomlTable& table,
                                      const std::vector<std::string>& spellings);
/// The faults of the values of several keys, to be said at once.
class Refusals {
 public:
  void add(const InvalidArgument& refusal) { list_.push_back(refusal); }
  /// Throws   InvalidArgument: the only one, or all of them in one line. Nothing if there is none.
  void refuse() const;

 private:
  std::vector<InvalidArgument> list_;
};
}  // namespace detail

/// Reads what the table has of `keys`; what it has not stays as it is in `into`. Names in `elsewhere` are
/// left to the caller. Names are checked before values.
/// Throws   InvalidArgument for an unknown key, for all that are missing, or one given under two names, for all wrong values.
template <class T>
void read_keys(T& into, const TomlTable& table, const Keys<T>& keys,
               const std::vector<std::string>& elsewhere = {}) {
  std::vector<std::string> known = names_of(keys);
  known.insert(known.end(), elsewhere.begin(), elsewhere.end());
  table.reject_unknown(known);
  std::vector<KeyInfo> missing;
  std::vector<std::string> given;
  for (const Key<T>& key : keys) {
    given.push_back(detail::spelling_in(table, spellings_of(key)));
    if (key.required && given.back().empty()) {
      missing.push_back({"", key.name, key.aliases, key.type, "", true, key.help, key.shape});
    }
  }
  if (!missing.empty()) detail::refuse_missing(table, missing);
  detail::Refusals refusals;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (given[i].empty()) continue;
    try {
      keys[i].read(into, table, given[i]);
    } catch (const InvalidArgument& refusal) {
      refusals.add(refusal);
    }
  }
  refusals.refuse();
}

template <class T>
[[nodiscard]] std::string write_keys(const T& value, const Keys<T>& keys) {
  std::string text;
  for (const Key<T>& key : keys) {
    if (const std::string written = key.write(value); !written.empty()) {
      text += key.name + " = " + written + "\n";
    }
  }
  return text;
}

/// Where the file, or an option over it, gives the key of a question that spreads over the tables of `root`;
/// as it is if nothing does, or if it is no key.
[[nodiscard]] Where place_of_key(const TomlTable& root, const std::vector<KeyInfo>& keys,
                                 const Where& where);

/// Calls `work`, which answers or checks the question of `root`. An error at a key of the question is thrown again
/// at the place that gave its value.
template <class Work>
decltype(auto) located_keys(const TomlTable& root, const std::vector<KeyInfo>& keys, Work&& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    if (!error.where().is_key()) throw;
    throw InvalidArgument(error, place_of_key(root, keys, error.where()));
  } catch (const NumericalFailure& error) {
    if (!error.where().is_key()) throw;
    throw NumericalFailure(error, place_of_key(root, keys, error.where()));
  }
}

}  // namespace sfumato
