#include "sfumato/data/csv_writer.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {

CsvWriter::CsvWriter(const std::string& path, const std::vector<std::string>& columns,
                     const WriteRules& rules)
    : file_(std::in_place, path, rules), width_(columns.size()) {
  begin_table(columns, Where::in(path));
}

CsvWriter::CsvWriter(const std::vector<std::string>& columns) : width_(columns.size()) {
  begin_table(columns, Where::here("CsvWriter"));
}

void CsvWriter::begin_table(const std::vector<std::string>& columns, const Where& where) {
  if (columns.empty()) {
    throw InvalidArgument("a CSV file needs at least one column", "Name the columns", where);
  }
  for (const std::string& column : columns) text(column);
  end_row();
}

void CsvWriter::begin_cell() {
  if (cells_++ > 0) row_ += ',';
}

CsvWriter& CsvWriter::number(double value) {
  begin_cell();
  char digits
      [32];  // the longest double is -2.2250738585072014e-308; a third quicker than into the string
  row_.append(digits, fmt::format_to(digits, FMT_COMPILE("{}"), value));
  return *this;
}

CsvWriter& CsvWriter::integer(std::int64_t value) {
  begin_cell();
  fmt::format_to(std::back_inserter(row_), "{}", value);
  return *this;
}

CsvWriter& CsvWriter::text(std::string_view value) {
  begin_cell();
  // A name that looks like a number, is empty or has blanks at its ends survives only in quotes.
  const bool plain =
      !value.empty() && value.find_first_of(",;|\t\"\r\n") == std::string_view::npos &&
      value.front() != ' ' && value.front() != '\t' && value.back() != ' ' &&
      value.back() != '\t' && value.find_first_not_of("0123456789.+-eE") != std::string_view::npos;
  if (plain) {
    row_ += value;
    return *this;
  }
  row_ += '"';
  for (const char c : value) {
    if (c == '"') row_ += '"';
    row_ += c;
  }
  row_ += '"';
  return *this;
}

void CsvWriter::end_row() {
  require_size("row", static_cast<std::ptrdiff_t>(cells_), static_cast<std::ptrdiff_t>(width_));
  row_ += '\n';
  if (file_) {
    file_->write(row_);
  } else {
    kept_ += row_;
  }
  row_.clear();
  cells_ = 0;
}

void CsvWriter::commit() {
  require_size("unfinished row", static_cast<std::ptrdiff_t>(cells_), 0);
  file_.value().commit();
}

}  // namespace sfumato
