#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

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
  std::size_t dropped = 0;           ///< rows left out because a value was missing
  std::vector<std::string> ids;  ///< the name of each row, where a column of names was asked for
  /// For each column, what of it is text or missing (`values` is 0 there); empty: not asked for, all are numbers.
  std::vector<TextCells> texts;
};

/// Position of the column called `name`.
/// Throws   InvalidArgument that suggests the nearest name.
[[nodiscard]] Eigen::Index column_of(const DataTable& table, std::string_view name);

/// Positions of the columns called `names`, in the order of `names`; linear in the number of both.
/// Throws   InvalidArgument that suggests the nearest name.
[[nodiscard]] std::vector<Eigen::Index> columns_of(const DataTable& table,
                                                   const std::vector<std::string>& names);

}  // namespace sfumato
