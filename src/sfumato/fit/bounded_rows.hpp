#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sfumato/data/csv_records.hpp"
#include "sfumato/fit/public_table.hpp"

namespace sfumato {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The private rows of a table, each brought within the public bounds by itself (Spec §22.1).
struct BoundedRows {
  RowMajor
      features;  ///< |row| <= PublicTable::bound(); numeric features in [-1, 1], the intercept last
  /// A quantity less the middle of its range, at most target_bound() in size; or the number of a class, -1 for a record without one. A record whose
  /// target is missing or no class is null: it contributes nothing, and its features are 0.
  Eigen::VectorXd target;
};

/// The private rows as they were read, in the units of the table: bounds may change (ranges that were released), the file is read once.
struct ReadRows {
  /// Numbers, NaN where one is missing; indicators of levels; the intercept.
  RowMajor features;
  /// A quantity, or the number of a class; NaN for a record without one.
  Eigen::VectorXd target;
};

/// Reads records, names first. Levels, classes and the columns are those of `table`; its ranges are not used. Missing numbers stand in the middle of their range, unknown levels for the reference; both are the record's own
/// business and are neither counted nor told.
///
/// Throws   InvalidArgument for columns that there are not (and the nearest name), with line and column for a text where a number belongs, and if
///          the table has more rows than declared.
[[nodiscard]] ReadRows read_rows(CsvRecords records, const PublicTable& table, FitModel model);

/// Brings each row within the bounds, by itself.
[[nodiscard]] BoundedRows bounded_rows(const ReadRows& rows, const PublicTable& table,
                                       FitModel model);

/// Names of the columns of a CSV file.
[[nodiscard]] std::vector<std::string> csv_head(const std::string& path);

}  // namespace sfumato
