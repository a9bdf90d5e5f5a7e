#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv.hpp"

namespace sfumato {

/// Which column of a table is learnt from which. Columns without names (NPY, CSV without a header) are
/// called by their numbers, from 1.
struct TargetColumns {
  std::string target = {};                 ///< empty: the last
  std::vector<std::string> features = {};  ///< empty: every column but the target and the id
  std::string id = {};  ///< names the rows and may hold text (CSV); never a feature; empty: none
};

/// A table one column of which is to be learnt from others.
struct TargetTable {
  std::string source;              ///< the file, for messages
  std::vector<std::string> names;  ///< of the features, then of the target
  Eigen::MatrixXd values;          ///< a column for each of `names`, all finite
  std::vector<std::size_t> lines;  ///< of the file, for each row; empty for NPY
  std::size_t dropped = 0;         ///< rows left out because a value was missing
  std::vector<std::string> ids;    ///< of the rows; empty: not asked for
  std::string checksum;            ///< SHA-256 of the file

  [[nodiscard]] const std::string& target() const { return names.back(); }
};

/// What a file may be.
enum class TableFile {
  named,   ///< CSV with a header row, whatever the file is called
  matrix,  ///< .csv, with or without a header, or .npy
};

/// Reads the features and the target. Names are checked before values.
///
/// Throws   InvalidArgument naming the file for another suffix (matrix), unknown columns (and the nearest),
///          a feature named twice, or one that is the target or the id; as read_csv(), read_csv_matrix()
///          and read_npy().
[[nodiscard]] TargetTable read_target_table(const std::string& path, const TargetColumns& columns,
                                            TableFile file = TableFile::matrix,
                                            const CsvOptions& csv = {});

/// Where a row stands in its file, for messages.
[[nodiscard]] Where place_of(const TargetTable& table, Eigen::Index row);

}  // namespace sfumato
