#include "sfumato/rows/table_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "sfumato/report/number.hpp"
#include "sfumato/rows/rows_words.hpp"

namespace sfumato {
namespace {

/// Columns that differ by more have other units, and noise and ridge act on them unequally.
constexpr double kSimilarSpread = 10.0;

std::string words_of_fill(const ColumnCoding& coding) {
  const std::string count = count_of(coding.filled, "value");
  switch (coding.kind) {
    case ColumnKind::number:
      return fmt::format("{} ({}, {})", coding.column, count, format_input(coding.fill));
    case ColumnKind::boolean:
      return fmt::format("{} ({}, {})", coding.column, count,
                         coding.fill == 1.0 ? "true" : "false");
    case ColumnKind::category:
      return fmt::format("{} ({}, {})", coding.column, count,
                         coding.levels[static_cast<std::size_t>(coding.fill)]);
  }
  return {};
}

}  // namespace

void add_columns_read(Document& document, const RowsAnswer& answer) {
  std::vector<std::string> categories, booleans, constant;
  for (const ColumnCoding& coding : answer.codings) {
    if (coding.kind == ColumnKind::boolean) booleans.push_back(coding.column);
    if (coding.kind != ColumnKind::category) continue;
    if (coding.width() == 0) {
      constant.push_back(coding.column);
    } else {
      categories.push_back(fmt::format("{} ({} levels, reference {})", coding.column,
                                       coding.levels.size(), coding.levels.front()));
    }
  }
  std::vector<std::string> parts;
  if (!categories.empty()) {
    parts.push_back(fmt::format("Categories, an indicator for each other level: {}",
                                fmt::join(categories, ", ")));
  }
  if (!booleans.empty()) {
    parts.push_back(fmt::format("Booleans, true or yes being 1: {}", fmt::join(booleans, ", ")));
  }
  if (!constant.empty()) {
    parts.push_back(fmt::format("One value in every row, left out: {}", fmt::join(constant, ", ")));
  }
  if (parts.empty()) return;
  document.state(StatementKind::info, fmt::format("{}.", fmt::join(parts, ". ")));
}

void add_table_warnings(Document& document, const RowsAnswer& answer) {
  std::vector<std::string> filled;
  for (const ColumnCoding& coding : answer.codings) {
    if (coding.filled > 0) filled.push_back(words_of_fill(coding));
  }
  if (!filled.empty()) {
    document.state(
        StatementKind::warning,
        fmt::format("Missing values were imputed: {}. Medians and most frequent values depend on "
                    "every row, which the risks do not account for.",
                    fmt::join(filled, ", ")));
  }
  if (answer.spread && answer.spread->ratio > kSimilarSpread) {
    document.state(
        StatementKind::warning,
        fmt::format("{} varies {} times as much as {}: ridge and noise act on weights, so risk and "
                    "accuracy depend on these units. See --standardise.",
                    answer.spread->widest, format_input(std::round(answer.spread->ratio)),
                    answer.spread->narrowest));
  }
}

}  // namespace sfumato
