#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/memory_table.hpp"
#include "sfumato/data/table.hpp"

namespace sfumato {

/// How numbers are written in a text file.
struct NumberFormat {
  char separator = ',';  ///< between fields
  char decimal = '.';    ///< '.' or ','
};

/// The treatment of a field that is empty, NA, N/A, NaN, null (in any case) or "?".
enum class MissingPolicy {
  reject,
  drop_row,
  keep,  ///< as a missing cell of DataTable::texts
};

struct CsvOptions {
  NumberFormat format = {};
  MissingPolicy missing = MissingPolicy::reject;
  /// The columns to read, in the table's order; the others may hold anything. Empty: all.
  std::vector<std::string> only = {};
  /// Columns that there must be; names are checked before values.
  std::vector<std::string> needed = {};
  /// The column that names the rows: kept as text, never read as a number. Empty: none.
  std::string id = {};
  /// Fields that are no numbers are kept in DataTable::texts instead of being refused.
  bool keep_text = false;
  /// Columns whose numbers are kept as texts, too.
  std::vector<std::string> as_text = {};
  /// Columns that are left out; they may hold anything.
  std::vector<std::string> exclude = {};
  /// Columns without names are called by their numbers, from 1.
  bool number_columns = false;
  /// Whoever asks can set `separator`, `decimal`, `impute`, `categorical` and the like: messages advise these keys.
  bool adjustable = false;
};

/// A numeric table with a header row. Quotes as in RFC 4180; lines end in LF, CRLF or CR; a byte-order
/// mark, blanks around fields and a missing last line end are accepted. Blank lines are skipped, except
/// that one between the rows of a one-column table is a missing value.
///
/// Throws   InvalidArgument with file:line:field for a ragged row, a field that is not a finite number,
///          a missing value under `reject`, broken quotes, empty or repeated column names, a first row
///          of numbers, no rows, or bytes that are not text; and as read_file().
[[nodiscard]] DataTable read_csv(const std::string& path, const CsvOptions& options = {});

/// The same of text in memory; `source` names it in messages.
[[nodiscard]] DataTable parse_csv(std::string_view text, const std::string& source,
                                  const CsvOptions& options = {});

/// The same of a table in memory; the format of numbers means nothing there.
[[nodiscard]] DataTable read_memory(const MemoryTable& table, const std::string& source,
                                    const CsvOptions& options = {});

/// A matrix of numbers whose header is optional: the first row is one if none of its fields is a number
/// or missing. Without it, `columns` is empty, or numbers if they are asked for. A first column
/// without a name beside others that have one, or that are called 0, 1, ..., is the index that pandas writes: it is not
/// read.
[[nodiscard]] DataTable read_csv_matrix(const std::string& path, const CsvOptions& options = {});
[[nodiscard]] DataTable parse_csv_matrix(std::string_view text, const std::string& source,
                                         const CsvOptions& options = {});

/// Whether it is taken for a missing value: nothing, NA, N/A, NaN, null (in any case) or "?".
[[nodiscard]] bool is_missing(std::string_view text);

/// The same numbers row by row, each held once.
struct CsvRows {
  std::vector<double> values;
  Eigen::Index rows;
  Eigen::Index cols;
};
[[nodiscard]] CsvRows parse_csv_rows(std::string_view text, const std::string& source,
                                     const CsvOptions& options = {});

}  // namespace sfumato
