#include "lab/study/study_keys.hpp"

#include <fmt/format.h>

#include "lab/study/spec/study.hpp"

namespace sfumato::lab {

Document study_keys_document() {
  Document document = new_document("train", "Study files");
  const std::vector<KeyInfo> keys = study_keys();
  for (std::size_t i = 0; i < keys.size();) {
    const std::string& table = keys[i].table;
    const bool list = table == "noise" || table == "model.layers";
    const std::string title =
        table.empty() ? "At the top of the file"
                      : (list ? fmt::format("[[{}]]", table) : fmt::format("[{}]", table));
    Table rows(table.empty() ? "top" : table, title,
               {{"key", "key"}, {"default", "default"}, {"type", "type"}, {"help", "meaning"}});
    for (; i < keys.size() && keys[i].table == table; ++i) {
      const KeyInfo& info = keys[i];
      std::string names = info.key;
      for (const std::string& alias : info.aliases) names += fmt::format(", {}", alias);
      const Cell fallback = info.fallback.empty() ? Cell(Empty{}) : Cell(info.fallback);
      rows.add_row({names, info.required ? Cell("required") : fallback, info.type, info.help});
    }
    document.add(std::move(rows));
  }
  return document;
}

std::string seed_notice(std::uint64_t seed) {
  return fmt::format(
      "all noise comes from seed {}: anyone who knows the study can regenerate and subtract it. "
      "These models are for measurements, not for release.",
      seed);
}

}  // namespace sfumato::lab
