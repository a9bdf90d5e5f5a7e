#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
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

/// The cells of a column that are no numbers, where they were asked for.
struct TextCells {
  static constexpr std::uint32_t kMissing = 0xFFFFFFFF;
  struct Cell {
    std::size_t row;
    std::uint32_t level;  ///< of `levels`, or kMissing
  };
  std::size_t field = 0;            ///< of the column in its file, from 1, for messages
  std::vector<std::string> levels;  ///< the different texts, in the order of their first appearance
  std::vector<Cell> cells;          ///< in the order of the rows
};

/// A numeric table, one record per row.
struct DataTable {
  std::string source;                ///< the file, for messages
  std::vector<std::string> columns;  ///< names, distinct; empty for a matrix without a header
  Eigen::MatrixXd values;            ///< rows x columns, all finite
  std::vector<std::size_t> lines;    ///< the line of the file on which each row begins
  bool in_memory = false;            ///< no file: the names are line 1, the first row is line 2
  std::size_t dropped = 0;           ///< rows left out because a value was missing
  std::vector<std::string> ids;  ///< the name of each row, where a column of names was asked for
  /// For each column, what of it is text or missing (`values` is 0 there); empty: not asked for, all are numbers.
  std::vector<TextCells> texts;
};

/// Where a line is, or a field of it, from 1, as people find it: rows of a table in memory count from 0.
[[nodiscard]] Where place_of_line(const std::string& source, std::size_t line, std::size_t field,
                                  bool in_memory);

/// Position of the column called `name`.
/// Throws   InvalidArgument that suggests the nearest name.
[[nodiscard]] Eigen::Index column_of(const DataTable& table, std::string_view name);

/// Positions of the columns called `names`, in the order of `names`; linear in the number of both.
/// Throws   InvalidArgument that suggests the nearest name.
[[nodiscard]] std::vector<Eigen::Index> columns_of(const DataTable& table,
                                                   const std::vector<std::string>& names);

}  // namespace sfumato
