#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/data/keys/key.hpp"

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
[[nodiscard]] const Keys<AuditSpec>& audit_spec_keys();

}  // namespace sfumato::lab
