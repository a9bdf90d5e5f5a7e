#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {

/// Those that a study of models of this kind has.
template <class T>
[[nodiscard]] Keys<T> keys_for(ModelKind kind, const Keys<T>& keys) {
  Keys<T> chosen;
  for (const Key<T>& key : keys) {
    const bool meant = key.kinds.empty() ||
                       std::find(key.kinds.begin(), key.kinds.end(), name(kind)) != key.kinds.end();
    if (meant) chosen.push_back(key);
  }
  return chosen;
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

/// A choice of the alternative that a variant holds, called by its kName. `find` returns the variant of what is read; nullptr where there is none,
/// and then the key is neither kept nor written.
template <class T, class Variant>
[[nodiscard]] Key<T> alternative_key(const char* key_name, const char* help, Variant* (*find)(T&)) {
  struct One {
    std::size_t index = 0;
  };
  const std::vector<Variant> all = []<class... Alternatives>(std::variant<Alternatives...>*) {
    return std::vector<Variant>{Alternatives{}...};
  }(static_cast<Variant*>(nullptr));
  keys::Choices<std::size_t> choices;
  for (const Variant& one : all) choices.emplace_back(name(one), one.index());
  const Key<One> choice = keys::choice_key<One>(key_name, help, &One::index, std::move(choices));
  return {key_name, choice.type, help,
          [find, all, read = choice.read](T& to, const TomlTable& table, const std::string& key) {
            One given;
            read(given, table, key);
            if (Variant* variant = find(to)) *variant = all[given.index];
          },
          [find, write = choice.write](const T& from) {
            T copy = from;
            const Variant* variant = find(copy);
            return variant == nullptr ? std::string() : write({variant->index()});
          }};
}

/// A key of a part that not every T has: kept and written where `find` finds the part. The reader refuses it elsewhere.
template <class T, class Part>
[[nodiscard]] Key<T> part_key(Key<Part> key, Part* (*find)(T&)) {
  return {key.name,
          key.type,
          key.help,
          [find, read = key.read](T& to, const TomlTable& table, const std::string& name) {
            Part none, *part = find(to);
            read(part != nullptr ? *part : none, table, name);
          },
          [find, write = key.write](const T& from) {
            T copy = from;
            const Part* part = find(copy);
            return part == nullptr ? std::string() : write(*part);
          },
          key.aliases,
          key.required,
          key.kinds,
          key.shape,
          key.is_file};
}

/// The keys of each table of a study.
[[nodiscard]] const Keys<DataSpec>& data_keys();
[[nodiscard]] const Keys<AdjacencySpec>& adjacency_keys();
[[nodiscard]] const Keys<ModelSpec>& model_keys();
/// Of a layer of that type; all of them for an empty type.
[[nodiscard]] Keys<LayerSpec> layer_keys(const std::string& type);
[[nodiscard]] std::vector<std::string> layer_types();
[[nodiscard]] const Keys<Training>& training_keys();
[[nodiscard]] const Keys<NoiseSpec>& noise_keys();
/// Those of private training, which the two above end with.
[[nodiscard]] const Keys<Training>& private_training_keys();
[[nodiscard]] const Keys<NoiseSpec>& private_noise_keys();
/// Refuses keys of a [[noise]] that its rule or metric would ignore, and what it lacks.
void require_private_keys(const NoiseSpec& noise, const TomlTable& table);
[[nodiscard]] const Keys<AuditSpec>& audit_spec_keys();

}  // namespace sfumato::lab
