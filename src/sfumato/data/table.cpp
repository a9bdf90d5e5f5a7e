#include "sfumato/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/compression.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

namespace {

[[noreturn]] void refuse_unknown(const DataTable& table, std::string_view name) {
  throw InvalidArgument(fmt::format("there is no column {}", shown(name)),
                        suggestion(name, table.columns, "columns"), Where::in(table.source));
}

}  // namespace

Where place_of_line(const std::string& source, std::size_t line, std::size_t field,
                    bool in_memory) {
  if (!in_memory) return Where::at(source, line, field);
  return line < 2 ? Where::in(source) : Where::row(source, line - 2);
}

Eigen::Index column_of(const DataTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found == table.columns.end()) refuse_unknown(table, name);
  return found - table.columns.begin();
}

std::vector<Eigen::Index> columns_of(const DataTable& table,
                                     const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, Eigen::Index> places;
  places.reserve(table.columns.size());
  for (const std::string& column : table.columns) places.emplace(column, std::ssize(places));
  std::vector<Eigen::Index> result;
  result.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = places.find(name);
    if (found == places.end()) refuse_unknown(table, name);
    result.push_back(found->second);
  }
  return result;
}

namespace {

constexpr double kTimesText =
    5.0;  // what `rows` and `fit` take beside the text: its numbers, and copies of them

}  // namespace

std::string table_source(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_table_file(const std::string& path) {
  using namespace std::string_view_literals;
  const std::string source = table_source(path);
  std::string bytes =
      decompressed(path == "-" ? read_standard_input() : read_file(path), source, kLargestFile);
  if (bytes.starts_with("PAR1"sv)) {
    throw InvalidArgument("is a Parquet file, which is not read",
                          "Convert it: python3 -c 'import sys, pandas; "
                          "pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2], index=False)' "
                          "TABLE.parquet TABLE.csv",
                          Where::in(source));
  }
  if (bytes.starts_with("PK\x03\x04"sv) || bytes.starts_with("\xD0\xCF\x11\xE0"sv)) {
    throw InvalidArgument("is an archive or a spreadsheet, not a text file",
                          "Save the sheet as CSV, or unpack the archive", Where::in(source));
  }
  require_memory(kTimesText * static_cast<double>(bytes.size()), "a table of this size",
                 "Use fewer rows or columns, or a machine with more memory", Where::in(source));
  return bytes;
}

TableInput::TableInput(const std::string& path, const MemoryTable* memory)
    : source_(table_source(path)),
      text_(memory == nullptr ? read_table_file(path) : ""),
      memory_(memory) {}

CsvRecords TableInput::records(char separator) const {
  if (memory_ != nullptr) return {*memory_, source_};
  return {text_, source_, separator};
}

std::string table_suffix(const std::string& path) {
  if (path == "-") return ".csv";
  const std::string suffix = suffix_of(path);
  if (suffix != ".gz" && suffix != ".xz") return suffix;
  return suffix_of(std::filesystem::path(path).stem().string());
}

}  // namespace sfumato
