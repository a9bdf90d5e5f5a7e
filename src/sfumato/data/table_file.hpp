#pragma once

#include <string>

#include "sfumato/data/csv_records.hpp"
#include "sfumato/data/memory_table.hpp"

namespace sfumato {

/// A table's path as messages have it: "standard input" for "-".
[[nodiscard]] std::string table_source(const std::string& path);

/// The text of a table: a file, or standard input for "-"; gzip and xz are told by their first bytes and
/// decompressed.
///
/// Throws   InvalidArgument with the way to convert it for Parquet and spreadsheets; as read_file(),
///          read_standard_input() and decompressed().
[[nodiscard]] std::string read_table_file(const std::string& path);

/// A table to go through record by record, once or more often: the text of a file, read at once, or a table in memory.
class TableInput {
 public:
  /// `memory` is read instead of the file, if it is there; `path` is then what messages call it, and the table must outlive this.
  /// Throws   InvalidArgument as read_table_file().
  explicit TableInput(const std::string& path, const MemoryTable* memory = nullptr);

  /// From the beginning, names first; `separator` is that of the text.
  /// Throws   InvalidArgument as CsvRecords.
  [[nodiscard]] CsvRecords records(char separator = ',') const;

 private:
  std::string source_, text_;
  const MemoryTable* memory_;
};

/// ".csv" for "a.csv", "a.CSV.gz" and "-", ".npy" for "a.npy".
[[nodiscard]] std::string table_suffix(const std::string& path);

}  // namespace sfumato
