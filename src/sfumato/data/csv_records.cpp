#include "sfumato/data/csv_records.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/table.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kBetweenLooks = 4096;  // records: some milliseconds

CsvField field_of(const MemoryColumn& column, std::size_t row) {
  const auto* numbers = std::get_if<MemoryNumbers>(&column.values);
  if (numbers == nullptr) return {std::get<std::vector<std::string>>(column.values)[row], true};
  const double value = numbers->first[static_cast<std::ptrdiff_t>(row) * numbers->stride];
  if (std::isfinite(value)) return {{}, true, true, value};
  return {std::isnan(value) ? "" : value > 0.0 ? "inf" : "-inf", true};
}

}  // namespace

CsvRecords::CsvRecords(const MemoryTable& table, std::string source)
    : table_(&table), source_(std::move(source)) {
  if (table.columns.empty()) {
    throw InvalidArgument("has no columns", "Give a table with a column or more",
                          Where::in(source_));
  }
  const std::size_t rows = table.columns.front().size();
  for (const MemoryColumn& column : table.columns) {
    if (column.size() == rows) continue;
    throw InvalidArgument(fmt::format("column {} has {} entries, the first has {}",
                                      shown(column.name), column.size(), rows),
                          "Columns of a table are equally long", Where::in(source_));
  }
}

Where CsvRecords::place(std::size_t line, std::size_t field) const {
  return place_of_line(source_, line, field, in_memory());
}

bool CsvRecords::next_in_memory() {
  if (record_line_ > table_->columns.front().size()) return false;
  const std::size_t row = record_line_++;  // behind the names
  for (const MemoryColumn& column : table_->columns) {
    fields_.push_back(row == 0 ? CsvField{column.name, true} : field_of(column, row - 1));
  }
  return true;
}

std::string_view CsvRecords::text(std::size_t field) {
  const CsvField& of = fields_[field];
  if (!of.is_number) return of.text;
  return unescaped_.emplace_back(fmt::format("{}", of.number));
}

bool CsvRecords::next() {
  if (++records_ % kBetweenLooks == 0) InputWatch::look();
  fields_.clear();
  unescaped_.clear();
  if (table_ != nullptr) return next_in_memory();
  if (rest_.empty()) return false;
  record_line_ = line_;
  for (;;) {
    // Blanks before a quote are tolerated: `1, "2"` is common.
    std::size_t start = 0;
    while (start < rest_.size() && (rest_[start] == ' ' || rest_[start] == '\t') &&
           rest_[start] != separator_) {
      ++start;
    }
    if (start < rest_.size() && rest_[start] == '"') {
      rest_.remove_prefix(start + 1);
      fields_.push_back(quoted_field());
    } else {
      fields_.push_back(plain_field());
    }
    if (rest_.empty()) return true;
    if (rest_.front() != separator_) break;
    rest_.remove_prefix(1);
  }
  end_line();
  return true;
}

CsvField CsvRecords::plain_field() {
  std::size_t end = 0;
  while (end < rest_.size() && rest_[end] != separator_ && rest_[end] != '\n' &&
         rest_[end] != '\r') {
    ++end;
  }
  const CsvField field{trimmed(rest_.substr(0, end)), false};
  rest_.remove_prefix(end);
  return field;
}

CsvField CsvRecords::quoted_field() {
  const Where opening = Where::at(source_, line_, fields_.size() + 1);
  std::string* joined = nullptr;  // set once a doubled quote makes a copy necessary
  std::string_view text;
  for (;;) {
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      throw InvalidArgument("a quoted field is never closed", "Add the closing quote", opening);
    }
    text = rest_.substr(0, quote);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n' || (text[i] == '\r' && text.substr(i, 2) != "\r\n")) ++line_;
    }
    rest_.remove_prefix(quote + 1);
    const bool doubled = rest_.starts_with('"');
    if (doubled && joined == nullptr) joined = &unescaped_.emplace_back();
    if (joined != nullptr) joined->append(text);
    if (!doubled) break;
    joined->push_back('"');
    rest_.remove_prefix(1);
  }
  if (joined != nullptr) text = *joined;
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t') &&
         rest_.front() != separator_) {
    rest_.remove_prefix(1);
  }
  if (!rest_.empty() && rest_.front() != separator_ && rest_.front() != '\n' &&
      rest_.front() != '\r') {
    throw InvalidArgument("text follows a closing quote", "Write a quote inside quotes twice",
                          opening);
  }
  return {text, true};
}

void CsvRecords::end_line() {
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
}

}  // namespace sfumato
