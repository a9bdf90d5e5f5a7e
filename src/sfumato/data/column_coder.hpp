#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "sfumato/data/column_coding.hpp"
#include "sfumato/data/table.hpp"

namespace sfumato {

/// The names of the columns of numbers: "age"; "workclass=Private".
[[nodiscard]] std::vector<std::string> names_of(const ColumnCoding& coding);

struct CodingChoice {
  bool categorical = false;    ///< asked for: any number of levels, whatever they look like
  std::string reference = {};  ///< a level; empty: the first in the order of their bytes
  Impute impute = Impute::refuse;
  bool adjustable = false;  ///< as CsvOptions has it
};

/// Chooses the coding of a column: numbers, booleans, or categories if all of it is text.
///
/// Throws   InvalidArgument with the place for text among numbers, texts that look like names of rows (as many as rows,
///          more than 100, or more than 10 and one for every second row), a column of missing values alone; for a reference that is not a level,
///          which is told its levels.
[[nodiscard]] ColumnCoding coding_of(const DataTable& table, Eigen::Index column,
                                     const CodingChoice& choice);

/// The columns of numbers that the coding makes of a column of this or another table.
/// Throws   InvalidArgument with the place for a level or a kind of value that the coding does not know.
[[nodiscard]] Eigen::MatrixXd coded(const ColumnCoding& coding, const DataTable& table,
                                    Eigen::Index column);

/// 1 where the column, read as text, is `level`, else 0. `known` are the values of the table that another one is to
/// be read like; empty: this is that table.
/// Throws   InvalidArgument if the level is nowhere, naming those that are; with the place for a value that is not known.
[[nodiscard]] Eigen::VectorXd coded_label(const DataTable& table, Eigen::Index column,
                                          const std::string& level,
                                          const std::vector<std::string>& known = {});

/// The most frequent levels, quoted, as messages have them: those that two rows or more share, four at most.
[[nodiscard]] std::string shown_levels(const std::vector<std::string>& levels,
                                       const std::vector<std::size_t>& counts);

}  // namespace sfumato
