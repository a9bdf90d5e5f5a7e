#include "sfumato/data/table_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/compression.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {
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
