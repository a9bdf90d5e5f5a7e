#include "sfumato/report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/report/claimed_text.hpp"
#include "sfumato/report/printable.hpp"
#include "sfumato/report/table_notes.hpp"

namespace sfumato {
namespace {

/// A cell as it is laid out: `<= 0.1234` and ` [1]`, so that numbers align whatever their marks.
struct Entry {
  std::string body;
  std::string mark;
};

struct ColumnLayout {
  std::string title;
  std::string unit;
  bool right = false;
  std::size_t body_width = 0, mark_width = 0;
  std::size_t width = 0;  ///< of the whole column
  std::vector<Entry> entries;
};

std::string body_of(const Cell& cell, NumberStyle style) {
  struct Visitor {
    NumberStyle style;
    std::string operator()(const Empty&) const { return "-"; }
    std::string operator()(const std::string& text) const { return printable(text); }
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double input) const { return format_input(input); }
    std::string operator()(const Claimed<double>& claimed) const {
      return claimed_text(claimed, style);
    }
  };
  return std::visit(Visitor{style}, cell.content());
}

/// " [3]", or nothing for an empty note.
std::string mark_of(Notes& notes, const std::string& note) {
  return note.empty() ? std::string() : fmt::format(" [{}]", notes.number(note));
}

ColumnLayout lay_out(const Table& table, std::size_t column, Notes& notes) {
  const Column& about = table.columns()[column];
  const std::optional<std::string> shared = common_note(table, column);
  ColumnLayout layout;
  layout.title = printable(about.title) + mark_of(notes, shared.value_or(""));
  if (!about.unit.empty()) layout.unit = fmt::format("({})", printable(about.unit));
  layout.right = is_right_aligned(table, column);
  for (const auto& row : table.rows()) {
    Entry entry;
    entry.body = body_of(row[column], about.style);
    if (const auto* claimed = std::get_if<Claimed<double>>(&row[column].content())) {
      if (!shared) entry.mark = mark_of(notes, note_of(*claimed));
    } else if (const auto* empty = std::get_if<Empty>(&row[column].content())) {
      entry.mark = mark_of(notes, printable(empty->reason));
    }
    layout.body_width = std::max(layout.body_width, display_width(entry.body));
    layout.mark_width = std::max(layout.mark_width, entry.mark.size());
    layout.entries.push_back(std::move(entry));
  }
  layout.width = std::max({display_width(layout.title), display_width(layout.unit),
                           layout.body_width + layout.mark_width});
  return layout;
}

std::string aligned(const ColumnLayout& layout, std::string_view text) {
  return layout.right ? pad_left(text, layout.width) : pad_right(text, layout.width);
}

std::string cell_text(const ColumnLayout& layout, const Entry& entry) {
  const std::string body = layout.right ? pad_left(entry.body, layout.body_width)
                                        : pad_right(entry.body, layout.body_width);
  return aligned(layout, body + pad_right(entry.mark, layout.mark_width));
}

template <class CellText>
std::string line(const std::vector<const ColumnLayout*>& part, CellText cell_text_of) {
  std::string text;
  for (const ColumnLayout* layout : part) {
    if (!text.empty()) text += "  ";
    text += cell_text_of(*layout);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string render_part(const std::vector<const ColumnLayout*>& part, std::size_t rows) {
  std::string text = line(part, [](const ColumnLayout& l) { return aligned(l, l.title); });
  const bool has_unit =
      std::any_of(part.begin(), part.end(), [](const ColumnLayout* l) { return !l->unit.empty(); });
  if (has_unit) text += line(part, [](const ColumnLayout& l) { return aligned(l, l.unit); });
  text += line(part, [](const ColumnLayout& l) { return std::string(l.width, '-'); });
  for (std::size_t row = 0; row < rows; ++row) {
    text += line(part, [&](const ColumnLayout& l) { return cell_text(l, l.entries[row]); });
  }
  if (rows == 0) text += "(no rows)\n";
  return text;
}

/// Columns in parts of at most `width`, each opened by the key columns.
std::vector<std::vector<const ColumnLayout*>> split_into_parts(
    const std::vector<ColumnLayout>& layouts, std::size_t key_columns, std::size_t width) {
  std::vector<const ColumnLayout*> keys;
  std::size_t keys_width = 0;
  for (std::size_t i = 0; i < std::min(key_columns, layouts.size()); ++i) {
    keys.push_back(&layouts[i]);
    keys_width += layouts[i].width + 2;
  }
  std::vector<std::vector<const ColumnLayout*>> parts{keys};
  std::size_t used = keys_width;
  for (std::size_t i = keys.size(); i < layouts.size(); ++i) {
    if (used + layouts[i].width > width && parts.back().size() > keys.size()) {
      parts.push_back(keys);
      used = keys_width;
    }
    parts.back().push_back(&layouts[i]);
    used += layouts[i].width + 2;
  }
  return parts;
}

}  // namespace

std::string render_table(const Table& table, std::size_t width) {
  Notes notes;
  std::vector<ColumnLayout> layouts;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    layouts.push_back(lay_out(table, i, notes));
  }
  std::string text = wrap("", printable(table.title()), width);
  bool first = true;
  for (const auto& part : split_into_parts(layouts, table.key_columns(), width)) {
    if (!first) text += "\n";
    first = false;
    text += render_part(part, table.rows().size());
  }
  for (std::size_t i = 0; i < notes.all().size(); ++i) {
    text += wrap(fmt::format("[{}] ", i + 1), notes.all()[i], width);
  }
  return text;
}

}  // namespace sfumato
