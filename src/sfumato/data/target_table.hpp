#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/column_coding.hpp"
#include "sfumato/data/csv.hpp"

namespace sfumato {

/// Which column of a table is learnt from which. Columns without names (NPY, CSV without a header) are
/// called by their numbers, from 1.
struct TargetColumns {
  std::string target = {};                 ///< empty: the last
  std::vector<std::string> features = {};  ///< empty: every column but the target and the id
  std::string id = {};  ///< names the rows and may hold text (CSV); never a feature; empty: none
  std::vector<std::string> exclude = {};      ///< columns that are no features, whatever they hold
  std::vector<std::string> categorical = {};  ///< columns whose values, numbers too, are categories
  /// The level of a category that has no indicator, which makes the column one. Others: the first in sorted order.
  std::vector<std::pair<std::string, std::string>> references = {};
  std::string positive =
      {};  ///< the value of the target that is 1, all others being 0; empty: a number
  Impute impute = Impute::refuse;  ///< of features; a target is never imputed
};

/// A table one column of which is to be learnt from others.
struct TargetTable {
  std::string source;                 ///< the file, for messages
  std::vector<std::string> names;     ///< of the features, indicators included, then of the target
  std::vector<bool> indicator;        ///< for each of `names`: that of a level of a category
  std::vector<ColumnCoding> codings;  ///< how each column of the file that is a feature was read
  std::vector<std::string> labels;    ///< the values of the target, where one of them is `positive`
  Eigen::MatrixXd values;             ///< a column for each of `names`, all finite
  std::vector<std::size_t> lines;     ///< of the file, for each row; empty for NPY
  bool in_memory = false;             ///< as of DataTable
  std::size_t dropped = 0;            ///< rows left out because a value was missing
  std::vector<std::string> ids;       ///< of the rows; empty: not asked for
  std::string checksum;  ///< SHA-256 of the file, decompressed; empty for a table in memory

  [[nodiscard]] const std::string& target() const { return names.back(); }
};

/// The kinds of file that are read.
enum class TableFile {
  named,   ///< CSV with a header row, whatever the file is called
  matrix,  ///< .csv, with or without a header, or .npy
};

/// Reads the features and the target: numbers, booleans as 0 and 1, categories as indicators. "-" is standard
/// input; gzip and xz are decompressed. Names are checked before values.
///
/// Throws   InvalidArgument naming the file for another suffix (matrix), unknown columns (and the nearest),
///          a column that has two parts to play, a target that is text and has no `positive` value, or is missing; as read_table_file(),
///          coding_of(), read_csv(), read_csv_matrix() and read_npy().
[[nodiscard]] TargetTable read_target_table(const std::string& path, const TargetColumns& columns,
                                            TableFile file = TableFile::matrix,
                                            const CsvOptions& csv = {});

/// The same of a table in memory, whose columns have names; messages call it `source`.
[[nodiscard]] TargetTable target_table_of(const MemoryTable& memory, const std::string& source,
                                          const TargetColumns& columns, const CsvOptions& csv = {});

/// The same columns of another file, coded as those of `like` were: a text that is not a level there is refused.
[[nodiscard]] TargetTable read_target_table_like(const std::string& path, const TargetTable& like,
                                                 const TargetColumns& columns, TableFile file,
                                                 const CsvOptions& csv = {});

/// Where a row stands in its file, for messages.
[[nodiscard]] Where place_of(const TargetTable& table, Eigen::Index row);

}  // namespace sfumato
