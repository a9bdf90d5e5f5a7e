#include "sfumato/report/html_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/table_notes.hpp"
#include "sfumato/report/typeset.hpp"

namespace sfumato {
namespace {

/// Tables with more columns are set tighter.
constexpr std::size_t kWideTable = 6, kVeryWideTable = 10;  // columns

/// Every digit of a number, as JSON has it.
std::string full(double value) { return fmt::format("{}", value); }

std::string_view meaning_of(Claim claim) {
  switch (claim) {
    case Claim::exact: return "exact";
    case Claim::upper_bound: return "upper bound";
    case Claim::lower_bound: return "lower bound";
    case Claim::estimate: return "estimate";
  }
  throw InternalError("unknown claim");
}

std::string_view shown_symbol(Claim claim) {
  switch (claim) {
    case Claim::exact: return "=";
    case Claim::upper_bound: return "≤";
    case Claim::lower_bound: return "≥";
    case Claim::estimate: return "~";
  }
  throw InternalError("unknown claim");
}

/// A number that stands for itself: an input, a count.
std::string plain_number(const std::string& shown, const std::string& all_digits) {
  return fmt::format(R"(<data value="{}" title="{}">{}</data>)", all_digits, all_digits, shown);
}

/// A text of the table with its mathematics set; what is copied is the text itself. Heads of columns and rows are set in signs alone:
/// MathML is no text to those who have a head read to them.
std::string set_text(const std::string& text, std::string_view style, bool is_head) {
  const std::string plain = html_text(text);
  const std::string set = is_head ? html_text(typeset_text(text)) : typeset_html(text);
  if (set == plain && style.empty()) return plain;
  return fmt::format("<span{}{}>{}</span>",
                     style.empty() ? "" : fmt::format(R"( class="{}")", style),
                     set == plain ? "" : fmt::format(R"( data-text="{}")", plain), set);
}

/// Findings are recognised at a glance: their words get the colour of their outcome.
std::string text_cell(const Column& column, const std::string& text, bool is_head) {
  if (column.key == "verdict") {
    if (const Outcome outcome = outcome_of_word(text); outcome != Outcome::none) {
      return fmt::format(R"(<span class="pill {}">{}</span>)", name(outcome), html_text(text));
    }
  }
  // Names and intervals stay on one line; a table that gets too wide is scrolled.
  constexpr std::size_t kShort = 24;
  return set_text(text, text.size() > kShort ? "" : "short", is_head);
}

/// The references to notes, which lead to them and back.
class NoteLinks {
 public:
  NoteLinks(Notes& notes, std::string_view id) : notes_(notes), id_(id) {}

  std::string operator()(const std::string& note) {
    if (note.empty()) return {};
    const std::size_t number = notes_.number(note);
    return fmt::format(R"(<sup><a href="#{}-note-{}" aria-label="note {}">{}</a></sup>)", id_,
                       number, number, number);
  }

 private:
  Notes& notes_;
  std::string_view id_;
};

struct ColumnView {
  const Column& about;
  bool right;
  bool is_key;
  std::optional<std::string> shared_note;
};

std::string cell_html(const Cell& cell, const ColumnView& column, NoteLinks& link) {
  struct Visitor {
    const ColumnView& column;
    NoteLinks& link;
    std::string operator()(const Empty& empty) const {
      return R"(<span class="none" title="no value">–</span>)" + link(empty.reason);
    }
    std::string operator()(const std::string& text) const {
      return text_cell(column.about, text, column.is_key);
    }
    std::string operator()(std::int64_t integer) const {
      const std::string digits = fmt::format("{}", integer);
      return plain_number(digits, digits);
    }
    std::string operator()(double input) const {
      return plain_number(format_input(input), full(input));
    }
    std::string operator()(const Claimed<double>& claimed) const {
      std::string html = html_number(claimed, column.about.style);
      if (!column.shared_note) html += link(note_of(claimed));
      return html;
    }
  };
  const char* tag = column.is_key ? "th" : "td";
  return fmt::format("<{}{}{}>{}</{}>", tag, column.is_key ? R"( scope="row")" : "",
                     column.right ? R"( class="number")" : "",
                     std::visit(Visitor{column, link}, cell.content()), tag);
}

std::string head_html(const std::vector<ColumnView>& columns, NoteLinks& link) {
  std::string html = "<thead><tr>";
  for (const ColumnView& column : columns) {
    html += fmt::format(R"(<th scope="col"{} data-key="{}"><span class="name">{}</span>)",
                        column.right ? R"( class="number")" : "", html_text(column.about.key),
                        set_text(column.about.title, "", true));
    html += link(column.shared_note.value_or(""));
    if (!column.about.unit.empty()) {
      html += fmt::format(R"( <span class="unit">{}</span>)", html_text(column.about.unit));
    }
    html += "</th>";
  }
  return html + "</tr></thead>\n";
}

/// Notes of two lines stand there, more are opened by a click.
std::string notes_html(const Notes& notes, std::string_view id) {
  if (notes.all().empty()) return {};
  std::string list = R"(<ol class="notes">)";
  std::size_t length = 0;
  for (std::size_t i = 0; i < notes.all().size(); ++i) {
    list += fmt::format(R"(<li id="{}-note-{}">{}</li>)", id, i + 1, typeset_html(notes.all()[i]));
    length += notes.all()[i].size();
  }
  list += "</ol>\n";
  constexpr std::size_t kTwoLines = 180;
  if (notes.all().size() <= 2 && length <= kTwoLines) return list;
  return fmt::format("<details class=\"fold notes-fold\"><summary>{}</summary>\n{}</details>\n",
                     notes.all().size() == 1
                         ? "Method"
                         : fmt::format("Methods and notes ({})", notes.all().size()),
                     list);
}

}  // namespace

Outcome outcome_of_word(std::string_view word) {
  return word == "holds"           ? Outcome::good
         : word == "does not hold" ? Outcome::bad
         : word == "depends"       ? Outcome::open
                                   : Outcome::none;
}

std::string html_claim(Claim claim) {
  return fmt::format(R"(<span class="claim {}" title="{}">{}</span>)", name(claim),
                     meaning_of(claim), shown_symbol(claim));
}

std::string html_number(const Claimed<double>& claimed, NumberStyle style) {
  return fmt::format(R"({} <data value="{}" title="{}">{}</data>)", html_claim(claimed.claim),
                     full(claimed.value), full(claimed.value),
                     std::isinf(claimed.value) ? (claimed.value > 0.0 ? "∞" : "-∞")
                                               : format_claimed(claimed, style));
}

std::string html_table(const Table& table, std::string_view id, std::string_view number,
                       bool folded) {
  std::vector<ColumnView> columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    columns.push_back({table.columns()[i], is_right_aligned(table, i), i < table.key_columns(),
                       common_note(table, i)});
  }
  Notes notes;
  NoteLinks link(notes, id);
  const std::string caption =
      fmt::format(R"(<span class="label">Table {}.</span> <span class="title">{}</span>)", number,
                  typeset_html(table.title()));
  std::string html = fmt::format(R"(<div class="table-block{}" id="{}" data-key="{}">)"
                                 "\n",
                                 columns.size() > kVeryWideTable ? " wide-table very-wide-table"
                                 : columns.size() > kWideTable   ? " wide-table"
                                                                 : "",
                                 id, html_text(table.key()));
  if (folded) {
    html += fmt::format(
        R"(<details class="fold"><summary id="{}-caption">{} <span class="extent">{} row{}</span></summary>)"
        "\n",
        id, caption, table.rows().size(), table.rows().size() == 1 ? "" : "s");
  }
  html += fmt::format(
      R"(<div class="scroll" role="region" aria-labelledby="{}-caption" tabindex="0">)"
      "\n<table>{}\n",
      id, folded ? "" : fmt::format(R"(<caption id="{}-caption">{}</caption>)", id, caption));
  html += head_html(columns, link);
  html += "<tbody>\n";
  for (const auto& row : table.rows()) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) html += cell_html(row[i], columns[i], link);
    html += "</tr>\n";
  }
  if (table.rows().empty()) {
    html += fmt::format("<tr><td colspan=\"{}\">No rows.</td></tr>\n", columns.size());
  }
  html += "</tbody></table></div>\n" + notes_html(notes, id);
  return html + (folded ? "</details></div>\n" : "</div>\n");
}

}  // namespace sfumato
