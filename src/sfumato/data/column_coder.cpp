#include "sfumato/data/column_coder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// More levels than this, unasked, are names rather than categories.
constexpr std::size_t kMostLevels = 100;
constexpr std::size_t kFewLevels = 10;
constexpr std::size_t kShownLevels = 4;

const TextCells& texts_of(const DataTable& table, Index column) {
  static const TextCells none;
  return table.texts.empty() ? none : table.texts[static_cast<std::size_t>(column)];
}

const std::string& name_of(const DataTable& table, Index column) {
  return table.columns[static_cast<std::size_t>(column)];
}

std::string field_name(const DataTable& table, Index column) {
  return fmt::format("field {} ({})", texts_of(table, column).field, shown(name_of(table, column)));
}

Where place_of(const DataTable& table, Index column, std::size_t row) {
  return place_of_line(table.source, table.lines[row], texts_of(table, column).field,
                       table.in_memory);
}

/// Rows of each level, missing values apart.
std::vector<std::size_t> counts_of(const TextCells& texts) {
  std::vector<std::size_t> counts(texts.levels.size(), 0);
  for (const TextCells::Cell& cell : texts.cells) {
    if (cell.level != TextCells::kMissing) ++counts[cell.level];
  }
  return counts;
}

/// 1 for true and yes, 0 for false and no, -1 for another text.
int boolean_of(std::string_view text) {
  std::string lower(text.substr(0, 6));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower == "true" || lower == "yes") return 1;
  if (lower == "false" || lower == "no") return 0;
  return -1;
}

bool are_booleans(const std::vector<std::string>& levels) {
  return std::all_of(levels.begin(), levels.end(),
                     [](const std::string& level) { return boolean_of(level) >= 0; });
}

/// The numbers of a column that has some, without its missing values.
std::vector<double> numbers_of(const DataTable& table, Index column) {
  std::vector<double> numbers;
  const std::vector<TextCells::Cell>& cells = texts_of(table, column).cells;
  auto next = cells.begin();
  for (Index row = 0; row < table.values.rows(); ++row) {
    if (next != cells.end() && next->row == static_cast<std::size_t>(row)) {
      ++next;
    } else {
      numbers.push_back(table.values(row, column));
    }
  }
  return numbers;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(numbers.begin(), middle), *middle);
}

double mode(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  double best = numbers.front();
  std::size_t most = 0, run = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    run = i > 0 && numbers[i] == numbers[i - 1] ? run + 1 : 1;
    if (run > most) {
      most = run;
      best = numbers[i];
    }
  }
  return best;
}

[[noreturn]] void refuse_text_among_numbers(const DataTable& table, Index column, bool adjustable) {
  const TextCells& texts = texts_of(table, column);
  const auto first =
      std::find_if(texts.cells.begin(), texts.cells.end(),
                   [](const TextCells::Cell& cell) { return cell.level != TextCells::kMissing; });
  throw InvalidArgument(
      fmt::format("{} is text, and other rows have numbers", field_name(table, column)),
      adjustable ? "Correct it, or name the column in `categorical` to read all of it as categories"
                 : "Correct it or remove the row",
      place_of(table, column, first->row));
}

/// Names of rows would become a parameter each, which that row alone determines.
void require_few_levels(const DataTable& table, Index column, const ColumnCoding& coding,
                        bool adjustable) {
  const std::size_t levels = coding.levels.size();
  const std::size_t rows =
      std::accumulate(coding.counts.begin(), coding.counts.end(), std::size_t{0});
  const bool names = levels > kMostLevels || (levels == rows && rows > 1) ||
                     (levels > kFewLevels && 2 * levels > rows);
  if (!names) return;
  throw InvalidArgument(
      fmt::format("{} is text, {} different values in {} rows", field_name(table, column), levels,
                  rows),
      adjustable
          ? "If it names the rows, give it as `id`; leave it out with `exclude`; or name it in "
            "`categorical` to make each value a category"
          : "Leave the column out, or code it as numbers",
      place_of(table, column, texts_of(table, column).cells.front().row));
}

/// Keeps the levels that some row has, sorted, the reference first.
void order_levels(ColumnCoding& coding, const TextCells& texts, const std::string& reference,
                  const std::string& source) {
  const std::vector<std::size_t> counts = counts_of(texts);
  std::map<std::string, std::size_t> sorted;  // by bytes, whatever the locale
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) sorted.emplace(texts.levels[i], counts[i]);
  }
  for (const auto& [level, count] : sorted) {
    coding.levels.push_back(level);
    coding.counts.push_back(count);
  }
  if (reference.empty()) return;
  const auto found = std::find(coding.levels.begin(), coding.levels.end(), reference);
  if (found == coding.levels.end()) {
    throw InvalidArgument(
        fmt::format("column {} has no level {}", shown(coding.column), shown(reference)),
        fmt::format("Levels: {}", shown_levels(coding.levels, coding.counts)), Where::in(source));
  }
  const auto place = found - coding.levels.begin();
  std::rotate(coding.levels.begin(), found, found + 1);
  std::rotate(coding.counts.begin(), coding.counts.begin() + place,
              coding.counts.begin() + place + 1);
}

}  // namespace

std::string_view name(Impute impute) {
  switch (impute) {
    case Impute::refuse: return "refuse";
    case Impute::drop: return "drop";
    case Impute::median: return "median";
    case Impute::mode: return "mode";
  }
  throw InternalError("an unknown way to impute");
}

std::string shown_levels(const std::vector<std::string>& levels,
                         const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::vector<std::string> words;
  for (const std::size_t i : order) {
    if (words.size() == kShownLevels || counts[i] < 2) break;
    words.push_back(shown(levels[i]));
  }
  const std::size_t others = levels.size() - words.size();
  if (words.empty())
    return fmt::format("{} different value{}", levels.size(), levels.size() == 1 ? "" : "s");
  return fmt::format(
      "{}{}", fmt::join(words, ", "),
      others > 0 ? fmt::format(" and {} other{}", others, others == 1 ? "" : "s") : "");
}

std::vector<std::string> names_of(const ColumnCoding& coding) {
  if (coding.kind != ColumnKind::category) return {coding.column};
  std::vector<std::string> names;
  for (std::size_t i = 1; i < coding.levels.size(); ++i) {
    names.push_back(fmt::format("{}={}", coding.column, coding.levels[i]));
  }
  return names;
}

ColumnCoding coding_of(const DataTable& table, Index column, const CodingChoice& choice) {
  const TextCells& texts = texts_of(table, column);
  ColumnCoding coding;
  coding.column = name_of(table, column);
  coding.filled = static_cast<std::size_t>(
      std::count_if(texts.cells.begin(), texts.cells.end(),
                    [](const TextCells::Cell& cell) { return cell.level == TextCells::kMissing; }));
  const auto rows = static_cast<std::size_t>(table.values.rows());
  const bool some_numbers = texts.cells.size() < rows;
  const bool some_texts = texts.cells.size() > coding.filled;
  if (!some_numbers && !some_texts) {
    throw InvalidArgument(fmt::format("column {} has no value at all", shown(coding.column)),
                          choice.adjustable ? "Leave it out with `exclude`" : "Leave it out",
                          Where::in(table.source));
  }
  if (some_numbers && some_texts) refuse_text_among_numbers(table, column, choice.adjustable);
  if (some_numbers) {
    if (coding.filled > 0) {
      std::vector<double> numbers = numbers_of(table, column);
      coding.fill =
          choice.impute == Impute::median ? median(std::move(numbers)) : mode(std::move(numbers));
    }
    return coding;
  }
  order_levels(coding, texts, choice.reference, table.source);
  const auto most =
      std::max_element(coding.counts.begin(), coding.counts.end()) - coding.counts.begin();
  if (!choice.categorical && are_booleans(coding.levels)) {
    coding.kind = ColumnKind::boolean;
    std::array<std::size_t, 2> truths{};
    for (std::size_t i = 0; i < coding.levels.size(); ++i) {
      truths[static_cast<std::size_t>(boolean_of(coding.levels[i]))] += coding.counts[i];
    }
    coding.fill = truths[1] > truths[0] ? 1.0 : 0.0;
    return coding;
  }
  coding.kind = ColumnKind::category;
  coding.fill = static_cast<double>(most);
  if (!choice.categorical) require_few_levels(table, column, coding, choice.adjustable);
  return coding;
}

namespace {

[[noreturn]] void refuse_kind(const ColumnCoding& coding, const DataTable& table, Index column,
                              std::size_t row) {
  const char* expected = coding.kind == ColumnKind::number    ? "a number"
                         : coding.kind == ColumnKind::boolean ? "True, False, yes or no"
                                                              : "one of the table's levels";
  throw InvalidArgument(fmt::format("{} is not {}", field_name(table, column), expected),
                        coding.kind == ColumnKind::category
                            ? fmt::format("Levels: {}", shown_levels(coding.levels, coding.counts))
                            : "Write it as the table does",
                        place_of(table, column, row));
}

/// The meaning of each level of `texts`: a number, or the place of a level; -1 if the coding does not know it.
std::vector<Index> meanings_of(const ColumnCoding& coding, const TextCells& texts) {
  std::vector<Index> meanings;
  for (const std::string& level : texts.levels) {
    if (coding.kind == ColumnKind::boolean) {
      meanings.push_back(boolean_of(level));
      continue;
    }
    const auto found = std::find(coding.levels.begin(), coding.levels.end(), level);
    meanings.push_back(found == coding.levels.end() ? -1 : found - coding.levels.begin());
  }
  return meanings;
}

}  // namespace

MatrixXd coded(const ColumnCoding& coding, const DataTable& table, Index column) {
  const TextCells& texts = texts_of(table, column);
  const Index rows = table.values.rows();
  if (coding.kind == ColumnKind::number) {
    VectorXd values = table.values.col(column);
    for (const TextCells::Cell& cell : texts.cells) {
      if (cell.level != TextCells::kMissing) refuse_kind(coding, table, column, cell.row);
      values(static_cast<Index>(cell.row)) = coding.fill;
    }
    return values;
  }
  if (static_cast<Index>(texts.cells.size()) < rows) {
    std::size_t row = 0;  // the first that is a number
    while (row < texts.cells.size() && texts.cells[row].row == row) ++row;
    refuse_kind(coding, table, column, row);
  }
  const std::vector<Index> meanings = meanings_of(coding, texts);
  MatrixXd values = MatrixXd::Zero(rows, static_cast<Index>(coding.width()));
  for (const TextCells::Cell& cell : texts.cells) {
    const bool missing = cell.level == TextCells::kMissing;
    const Index meaning = missing ? static_cast<Index>(coding.fill) : meanings[cell.level];
    if (meaning < 0) refuse_kind(coding, table, column, cell.row);
    const auto row = static_cast<Index>(cell.row);
    if (coding.kind == ColumnKind::boolean) {
      values(row, 0) = static_cast<double>(meaning);
    } else if (meaning > 0) {
      values(row, meaning - 1) = 1.0;
    }
  }
  return values;
}

VectorXd coded_label(const DataTable& table, Index column, const std::string& level,
                     const std::vector<std::string>& known) {
  const TextCells& texts = texts_of(table, column);
  const std::vector<std::size_t> counts = counts_of(texts);
  const auto found = std::find(texts.levels.begin(), texts.levels.end(), level);
  const auto place = static_cast<std::size_t>(found - texts.levels.begin());
  if (known.empty() && (found == texts.levels.end() || counts[place] == 0)) {
    throw InvalidArgument(
        fmt::format("column {} has no value {}", shown(name_of(table, column)), shown(level)),
        fmt::format("Its values: {}", shown_levels(texts.levels, counts)), Where::in(table.source));
  }
  VectorXd values = VectorXd::Zero(table.values.rows());
  for (const TextCells::Cell& cell : texts.cells) {
    if (cell.level == place) values(static_cast<Index>(cell.row)) = 1.0;
    if (known.empty() || cell.level == TextCells::kMissing) continue;
    if (std::find(known.begin(), known.end(), texts.levels[cell.level]) == known.end()) {
      throw InvalidArgument(
          fmt::format("{} is not a label that the table has", field_name(table, column)),
          "Write it as the table does", place_of(table, column, cell.row));
    }
  }
  return values;
}

}  // namespace sfumato
