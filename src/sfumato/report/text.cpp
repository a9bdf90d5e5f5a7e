#include "sfumato/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/printable.hpp"
#include "sfumato/report/text_table.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLongestBar = 50;

std::string_view prefix_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::warning: return "Warning: ";
    case StatementKind::assumption: return "Assumes: ";
    case StatementKind::verdict: return "Verdict: ";
    case StatementKind::info:
    case StatementKind::summary: return "";
  }
  throw InternalError("unknown kind of statement");
}

std::string name_of(const Axis& axis) {
  std::string text = printable(axis.title);
  if (!axis.unit.empty()) text += fmt::format(" ({})", printable(axis.unit));
  if (axis.scale == Scale::log) text += ", log scale";
  return text;
}

/// One horizontal bar per bin, its length proportional to the count; a bin that holds anything has
/// at least one character.
std::string render_bars(const Series& series, std::size_t width) {
  std::vector<std::string> lower, upper, counts;
  std::size_t lower_width = 0, upper_width = 0, count_width = 0;
  double highest = 0.0;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    lower.push_back(format_input(series.x[i]));
    upper.push_back(format_input(series.x[i + 1]));
    counts.push_back(format_input(series.y[i]));
    lower_width = std::max(lower_width, lower.back().size());
    upper_width = std::max(upper_width, upper.back().size());
    count_width = std::max(count_width, counts.back().size());
    highest = std::max(highest, series.y[i]);
  }
  const std::size_t beside = lower_width + upper_width + count_width + 9;
  const std::size_t longest =
      std::min(kLongestBar, width > beside + 10 ? width - beside : std::size_t{10});
  std::string text;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    std::size_t length = 0;
    if (series.y[i] > 0.0) {
      const double share =
          std::isinf(highest) ? (std::isinf(series.y[i]) ? 1.0 : 0.0) : series.y[i] / highest;
      length = std::max<std::size_t>(
          1, static_cast<std::size_t>(std::lround(share * static_cast<double>(longest))));
    }
    const char close = i + 1 == series.y.size() ? ']' : ')';
    text += fmt::format("[{}, {}{}  {}  {}", pad_left(lower[i], lower_width),
                        pad_left(upper[i], upper_width), close, pad_left(counts[i], count_width),
                        std::string(length, '#'));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string render_bars(const Figure& figure, std::size_t width) {
  std::string text = wrap("", printable(figure.title()), width);
  text += wrap("", name_of(figure.x()) + " against " + name_of(figure.y()), width);
  for (const Series& series : figure.series()) {
    if (figure.series().size() > 1) text += printable(series.title) + ":\n";
    text += render_bars(series, width);
  }
  if (figure.series().empty()) text += "(no values)\n";
  return text;
}

/// Green, red or yellow around what a verdict comes to: the word for it, or all of it where there is none.
std::string coloured(const std::string& text, const Statement& verdict) {
  const char* colour = verdict.outcome == Outcome::good  ? "32"
                       : verdict.outcome == Outcome::bad ? "31"
                                                         : "33";
  const auto* word = std::get_if<VerdictWord>(&verdict.text.parts().front());
  const std::size_t end = word == nullptr ? text.size() - 1 : word->words.size();  // no line break
  return fmt::format("\x1b[1;{}m{}\x1b[0m{}", colour, text.substr(0, end), text.substr(end));
}

std::string render_statement(const Statement& statement, const TextStyle& style) {
  const std::string prefix(prefix_of(statement.kind));
  std::string text = wrap(prefix, printable(statement.plain(style.keys)), style.width);
  if (!style.colour || statement.text.empty()) return text;
  if (statement.kind == StatementKind::warning) {
    return fmt::format("\x1b[33m{}\x1b[0m{}", prefix, text.substr(prefix.size()));
  }
  if (statement.kind != StatementKind::verdict || statement.outcome == Outcome::none) return text;
  return prefix + coloured(text.substr(prefix.size()), statement);
}

std::string render_provenance(const Document& document, std::size_t width) {
  std::size_t key_width = 0;
  for (const auto& [key, value] : document.provenance()) {
    (void)value;
    key_width = std::max(key_width, display_width(printable(key)));
  }
  std::string text;
  for (const auto& [key, value] : document.provenance()) {
    text += wrap(pad_right(printable(key), key_width) + "  ", printable(value), width);
  }
  return text;
}

}  // namespace

std::string render_text(const Document& document, const TextStyle& style) {
  const std::size_t width = style.width;
  const std::string title = printable(document.title());
  std::string text = title + "\n" + std::string(display_width(title), '=') + "\n";
  std::string summary;
  std::vector<std::string> figures;
  std::optional<StatementKind> before;  // of the block before, if it is a statement
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement != nullptr && statement->kind == StatementKind::summary) {
      summary += printable(statement->plain(style.keys)) + "\n";
      continue;
    }
    const auto* figure = std::get_if<Figure>(&block);
    if (figure != nullptr && figure->mark() != Mark::bars) {
      figures.push_back(printable(figure->title()));
      continue;
    }
    // Statements that follow one another form a paragraph, which a verdict closes before new
    // information; everything else stands apart.
    const bool joins =
        statement != nullptr && before.has_value() &&
        !(before == StatementKind::verdict && statement->kind == StatementKind::info);
    if (!joins) text += "\n";
    before = statement != nullptr ? std::optional(statement->kind) : std::nullopt;
    if (statement != nullptr) {
      text += render_statement(*statement, style);
    } else if (const auto* table = std::get_if<Table>(&block)) {
      text += render_table(*table, width);
    } else {
      text += render_bars(*figure, width);
    }
  }
  if (!figures.empty() && !style.figures_by.empty()) {
    text += '\n';
    text += wrap("Figures: ",
                 fmt::format("{} ({} draws {})", fmt::join(figures, "; "), style.figures_by,
                             figures.size() == 1 ? "it" : "them"),
                 width);
  }
  if (!document.provenance().empty()) {
    text += '\n';
    text += render_provenance(document, width);
  }
  if (!summary.empty()) {
    text += '\n';
    text += summary;
  }
  return text;
}

}  // namespace sfumato
