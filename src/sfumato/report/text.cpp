#include "sfumato/report/text.hpp"

#include <fmt/format.h>

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
std::string render_bars(const Series& series) {
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
  std::string text;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    std::size_t length = 0;
    if (series.y[i] > 0.0) {
      const double share =
          std::isinf(highest) ? (std::isinf(series.y[i]) ? 1.0 : 0.0) : series.y[i] / highest;
      length = std::max<std::size_t>(
          1, static_cast<std::size_t>(std::lround(share * static_cast<double>(kLongestBar))));
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

std::string render_figure(const Figure& figure, std::size_t width) {
  if (figure.mark() == Mark::bars) {
    std::string text = wrap("", printable(figure.title()), width);
    text += wrap("", name_of(figure.x()) + " against " + name_of(figure.y()), width);
    for (const Series& series : figure.series()) {
      if (figure.series().size() > 1) text += printable(series.title) + ":\n";
      text += render_bars(series);
    }
    if (figure.series().empty()) text += "(no values)\n";
    return text;
  }
  std::string list;
  for (const Series& series : figure.series()) {
    list += fmt::format("{}{} {} ({} point{})", list.empty() ? "" : ", ", symbol(series.claim),
                        printable(series.title), series.y.size(), series.y.size() == 1 ? "" : "s");
  }
  std::string axes = fmt::format("x: {}; y: {}", name_of(figure.x()), name_of(figure.y()));
  if (figure.z()) axes += fmt::format("; z: {}", name_of(*figure.z()));
  return wrap(
      "Figure: ",
      fmt::format("{}; {}; {}", printable(figure.title()), list.empty() ? "no series" : list, axes),
      width);
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

std::string render_text(const Document& document, std::size_t width) {
  const std::string title = printable(document.title());
  std::string text = title + "\n" + std::string(display_width(title), '=') + "\n";
  std::string summary;
  std::optional<StatementKind> before;  // of the block before, if it is a statement
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement != nullptr && statement->kind == StatementKind::summary) {
      summary += printable(statement->text) + "\n";
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
      text += wrap(prefix_of(statement->kind), printable(statement->text), width);
    } else if (const auto* table = std::get_if<Table>(&block)) {
      text += render_table(*table, width);
    } else {
      text += render_figure(std::get<Figure>(block), width);
    }
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
