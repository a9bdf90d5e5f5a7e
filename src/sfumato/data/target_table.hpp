#pragma once

#include <Eigen/Core>
#include <string>

#include "sfumato/data/table.hpp"

namespace sfumato {

/// A table one column of which is to be learnt from the others.
struct TargetTable {
  DataTable table;
  Eigen::Index target;   ///< its column
  std::string checksum;  ///< SHA-256 of the file
};

/// Reads a CSV or NPY table. `target` is the column's name where the file has a header, its number (from
/// 1) where it has none; empty: the last.
///
/// Throws   InvalidArgument naming the file for another suffix, a column that does not exist, or no
///          column beside it; as read_csv_matrix() and read_npy().
[[nodiscard]] TargetTable read_target_table(const std::string& path, const std::string& target);

}  // namespace sfumato
