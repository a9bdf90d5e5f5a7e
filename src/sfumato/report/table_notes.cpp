#include "sfumato/report/table_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato {

std::size_t Notes::number(const std::string& note) {
  auto found = std::find(notes_.begin(), notes_.end(), note);
  if (found == notes_.end()) found = notes_.insert(notes_.end(), note);
  return static_cast<std::size_t>(found - notes_.begin()) + 1;
}

std::string note_of(const Claimed<double>& claimed) {
  std::string note = printable(claimed.method);
  const auto append = [&](const std::string& part) {
    if (!note.empty()) note += "; ";
    note += part;
  };
  if (!claimed.assumptions.empty()) {
    std::string list;
    for (const std::string& assumption : claimed.assumptions) {
      if (!list.empty()) list += "; ";
      list += printable(assumption);
    }
    append("assumes: " + list);
  }
  if (claimed.confidence)
    append(fmt::format("confidence {}", format_confidence(*claimed.confidence)));
  return note;
}

std::optional<std::string> common_note(const Table& table, std::size_t column) {
  std::optional<std::string> common;
  for (const auto& row : table.rows()) {
    const auto* claimed = std::get_if<Claimed<double>>(&row[column].content());
    if (claimed == nullptr) continue;
    std::string note = note_of(*claimed);
    if (common && *common != note) return std::nullopt;
    common = std::move(note);
  }
  return common;
}

bool is_right_aligned(const Table& table, std::size_t column) {
  const Align align = table.columns()[column].align;
  if (align != Align::automatic) return align == Align::right;
  bool has_number = false, has_text = false;
  for (const auto& row : table.rows()) {
    const Cell::Content& content = row[column].content();
    has_text = has_text || std::holds_alternative<std::string>(content);
    has_number = has_number || (!std::holds_alternative<std::string>(content) &&
                                !std::holds_alternative<Empty>(content));
  }
  return has_number && !has_text;
}

}  // namespace sfumato
