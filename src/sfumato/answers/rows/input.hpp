#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/csv.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// Which columns of a table make the regression, and how they are rescaled first.
struct RegressionColumns {
  std::string target;
  std::vector<std::string> features;  ///< empty: every column but the target
  bool intercept = true;              ///< a column of ones, penalised like the others
  Eigen::Index classes = 0;  ///< the target is a label 0, 1, ..., never rescaled; 0: a quantity
  /// A file with a row of centres and a row of scales under column names; "self" takes both from
  /// the table; empty leaves the columns as they are.
  std::string standardise;
};

/// A table made ready for regression.
struct RegressionInput {
  Eigen::MatrixXd features;
  Eigen::VectorXd target;
  std::vector<std::string> parameters;  ///< names, the intercept last
  std::vector<std::size_t> lines;       ///< of the file, for each row
  std::size_t dropped = 0;              ///< rows left out because a value was missing
  std::vector<std::string>
      not_rescaled;                   ///< columns left as they are although others were rescaled
  std::optional<Record> replacement;  ///< the record of `with_file`, rescaled alike
};

/// Reads the table and, if `with_file` is not empty, the one record that replaces each row.
///
/// Throws   InvalidArgument with the file for unknown columns (and the nearest), a target among the
///          features, a scale that is not positive, more or less than one record in `with_file`,
///          with the line for a label that is none of the classes, constants that would rescale a label;
///          and as read_csv().
[[nodiscard]] RegressionInput read_regression(const std::string& path,
                                              const RegressionColumns& columns,
                                              const CsvOptions& csv, const std::string& with_file);

}  // namespace sfumato
