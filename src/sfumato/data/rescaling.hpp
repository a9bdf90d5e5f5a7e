#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/csv.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/data/target_table.hpp"

namespace sfumato {

/// x -> (x - centre) / scale, one of each per column of a table (features, then target).
struct Rescaling {
  Eigen::VectorXd centre;
  Eigen::VectorXd scale;

  /// Whether it leaves that column as it is.
  [[nodiscard]] bool keeps(Eigen::Index column) const {
    return centre(column) == 0.0 && scale(column) == 1.0;
  }
  void keep(Eigen::Index column) {
    centre(column) = 0.0;
    scale(column) = 1.0;
  }
};

/// Mean and deviation (by N) of each column; a constant one is centred alone.
[[nodiscard]] Rescaling own_moments(const Eigen::MatrixXd& values);

/// The two rows of a file, centres and scales, under the names of columns. Columns that it has not are kept.
/// Throws   InvalidArgument with the file for another number of rows, a scale that is not positive, or, if
///          `all` columns of the table are used, for a name that none of them has.
[[nodiscard]] Rescaling read_rescaling(const std::string& path,
                                       const std::vector<std::string>& names, bool all,
                                       const CsvOptions& csv);

[[nodiscard]] Eigen::MatrixXd rescaled(const Eigen::MatrixXd& values, const Rescaling& rescaling);

/// (value / divisor - mean) / deviation; the last column, the target, has no divisor, and constants of its own
/// where one more than the features is given.
/// Throws   InvalidArgument if numbers of constants do not fit, or a divisor or deviation is not positive.
[[nodiscard]] Eigen::MatrixXd rescaled(Eigen::MatrixXd values, const Standardisation& constants);

}  // namespace sfumato
