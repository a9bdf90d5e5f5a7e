#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/data/toml.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// One key of a table: everything that reading, writing and explaining it needs, in one place. T is the
/// struct that the table becomes.
template <class T>
struct Key {
  std::string name;
  std::string type;  ///< for people: "integer >= 1"
  std::string help;
  std::function<void(T&, const TomlTable&, const std::string& key)> read;
  std::function<std::string(const T&)> write;  ///< as TOML; empty: not set, left out
  std::vector<std::string> aliases = {};
  bool required = false;
  std::vector<ModelKind> kinds = {};  ///< of models that have it; empty: all
};

template <class T>
using Keys = std::vector<Key<T>>;

/// Those that a study of models of this kind has.
template <class T>
[[nodiscard]] Keys<T> keys_for(ModelKind kind, const Keys<T>& keys) {
  Keys<T> chosen;
  for (const Key<T>& key : keys) {
    const bool meant =
        key.kinds.empty() || std::find(key.kinds.begin(), key.kinds.end(), kind) != key.kinds.end();
    if (meant) chosen.push_back(key);
  }
  return chosen;
}

template <class T>
[[nodiscard]] std::vector<std::string> names_of(const Keys<T>& keys) {
  std::vector<std::string> names;
  for (const Key<T>& key : keys) {
    names.push_back(key.name);
    names.insert(names.end(), key.aliases.begin(), key.aliases.end());
  }
  return names;
}

/// Reads what the table has of `keys`; what it has not stays as it is in `into`. Names in `elsewhere` are
/// left to the caller.
/// Throws   InvalidArgument for an unknown key, one that is missing, or one given under two names.
template <class T>
void read_keys(T& into, const TomlTable& table, const Keys<T>& keys,
               const std::vector<std::string>& elsewhere = {}) {
  std::vector<std::string> known = names_of(keys);
  known.insert(known.end(), elsewhere.begin(), elsewhere.end());
  table.reject_unknown(known);
  for (const Key<T>& key : keys) {
    std::string given;
    std::vector<std::string> names = {key.name};
    names.insert(names.end(), key.aliases.begin(), key.aliases.end());
    for (const std::string& name : names) {
      if (!table.has(name)) continue;
      if (!given.empty()) {
        given.append("` and `").append(name);
        throw InvalidArgument("`" + given + "` are the same key", "Keep one of them",
                              table.where(name));
      }
      given = name;
    }
    if (!given.empty()) {
      key.read(into, table, given);
    } else if (key.required) {
      (void)table.where(key.name);
      throw InvalidArgument("the key `" + key.name + "` is missing",
                            "Add it: " + key.help + " (" + key.type + ")", table.where(key.name));
    }
  }
}

/// As read_keys() for models of this kind; a key of others is refused as such.
template <class T>
void read_keys_for(ModelKind kind, T& into, const TomlTable& table, const Keys<T>& keys,
                   const std::vector<std::string>& elsewhere = {}) {
  const Keys<T> chosen = keys_for(kind, keys);
  const std::vector<std::string> all = names_of(keys), known = names_of(chosen);
  for (const std::string& key : table.keys()) {
    const auto among = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), key) != names.end();
    };
    if (!among(all) || among(known)) continue;
    throw InvalidArgument(
        "`" + key + "` means nothing for models of kind " + std::string(name(kind)), "Remove it",
        table.where(key));
  }
  read_keys(into, table, chosen, elsewhere);
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

/// The keys of each table of a study.
[[nodiscard]] const Keys<DataSpec>& data_keys();
[[nodiscard]] const Keys<AdjacencySpec>& adjacency_keys();
[[nodiscard]] const Keys<ModelSpec>& model_keys();
/// Of a layer of that type; all of them for an empty type.
[[nodiscard]] Keys<LayerSpec> layer_keys(const std::string& type);
[[nodiscard]] std::vector<std::string> layer_types();
[[nodiscard]] const Keys<Training>& train_keys();
[[nodiscard]] const Keys<NoiseSpec>& noise_keys();
[[nodiscard]] const Keys<AuditSpec>& audit_keys();

}  // namespace sfumato
