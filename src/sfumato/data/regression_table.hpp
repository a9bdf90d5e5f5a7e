#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/data/target_table.hpp"

namespace sfumato {

/// Which columns of a table make the regression, and how they are rescaled first.
struct RegressionColumns : TargetColumns {
  bool intercept = true;     ///< a column of ones, penalised like the others
  Eigen::Index classes = 0;  ///< the target is a label 0, 1, ..., never rescaled; 0: a quantity
  /// A file with a row of centres and a row of scales under column names; "self" takes both from
  /// the table; empty leaves the columns as they are.
  std::string standardise = {};
  /// In its place: one constant per feature, and one more where the target has its own (the divisor is
  /// for features).
  std::optional<Standardisation> constants = {};
  TableFile file = TableFile::named;
};

/// A table made ready for regression.
struct RegressionInput {
  Eigen::MatrixXd features;
  Eigen::VectorXd target;
  std::vector<std::string> parameters;  ///< names, the intercept last
  std::vector<std::size_t> lines;       ///< of the file, for each row; empty for NPY
  std::vector<std::string> ids;         ///< of the rows, where there is a column of them
  std::size_t dropped = 0;              ///< rows left out because a value was missing
  std::vector<std::string>
      not_rescaled;                   ///< columns left as they are although others were rescaled
  std::optional<Record> replacement;  ///< the record of `with_file`, coded and rescaled alike
  std::string checksum;  ///< SHA-256 of the table's file, decompressed; empty for one in memory
  std::vector<ColumnCoding> codings;  ///< how each column of the file that is a feature was read
  double target_scale = 1.0;          ///< units of the file in one of `target`
  /// Spreads of numbers that were not standardised; none for fewer than two that vary.
  std::optional<SpreadGap> spread;
};

/// Reads the table, or takes the one in memory and calls it `path`; and, if `with_file` is not empty, the one record that replaces each row.
///
/// Throws   InvalidArgument with the file for a scale that is not positive, more or less than one record in
///          `with_file`, no feature at all, with the line for a label that is none of the classes, constants
///          of a file that would rescale a label; for constants that do not fit the columns; and as
///          read_target_table().
[[nodiscard]] RegressionInput read_regression(const std::string& path,
                                              const RegressionColumns& columns,
                                              const CsvOptions& csv, const std::string& with_file,
                                              const MemoryTable* memory = nullptr);

}  // namespace sfumato
