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
  /// A quantity less the middle of its range, at most target_bound() or `target_reach` in size; or the number of a class, -1 for a record without one. A record whose
  /// target is missing or no class, or that lacks a value under the rule `drop`, is null: it contributes nothing, and its features are 0.
  Eigen::VectorXd target;
  /// Numeric features whose value is missing and stands in the middle of its range; empty where the rules leave none.
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> filled = {};
};

/// The private rows as they were read, in the units of the table: bounds may change (ranges that were released), the file is read once.
struct ReadRows {
  /// Numbers, NaN where a missing one is to stand in the middle of its range; indicators of levels and of missing values; the intercept.
  RowMajor features;
  /// A quantity, or the number of a class; NaN for a record without one, or one that is dropped.
  Eigen::VectorXd target;
};

/// Nothing, "?", NA, NaN, null or an infinity, in the usual spellings.
[[nodiscard]] bool is_missing(const CsvField& field);

/// Reads records, names first. Levels, classes, columns and what becomes of missing values are those of `table`; its ranges are not used. Missing are such cells (is_missing()) unless they
/// are declared levels, and numbers that no double holds; any other text that is no declared level stands for the reference. All of it is the record's own business, and neither counted nor told.
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
