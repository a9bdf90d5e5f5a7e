#include "sfumato/data/keys/located_keys.hpp"

#include <algorithm>

namespace sfumato {

Where place_of_key(const TomlTable& root, const std::vector<KeyInfo>& keys, const Where& where) {
  if (!where.is_key()) return where;
  for (const KeyInfo& key : keys) {
    std::vector<std::string> names = key.aliases;
    names.push_back(key.key);
    if (std::find(names.begin(), names.end(), where.text()) == names.end()) continue;
    if (!key.table.empty() && !root.has(key.table)) continue;
    const TomlTable table = key.table.empty() ? root : root.table(key.table);
    for (const std::string& name : names) {
      if (table.has(name)) return table.where(name);
    }
  }
  return where;
}

}  // namespace sfumato
