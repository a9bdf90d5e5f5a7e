#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

enum class FitModel {
  ridge,     ///< a quantity by least squares
  logistic,  ///< one of two classes
  softmax,   ///< one of several
};
/// "ridge", "logistic" or "softmax".
[[nodiscard]] std::string_view name(FitModel model);

/// What becomes of a record that lacks a value in a column. Each rule looks at the record alone (Spec §22.1).
struct DropRecord {};     ///< it contributes nothing to anything
struct MiddleOfRange {};  ///< the value is the middle of the range that is used
struct MissingIndicator {
};  ///< a further feature says so; a number is the middle of the range, a category has no level
struct FillNumber {
  double value;  ///< within the declared range
};
struct FillLevel {
  std::string level;  ///< a declared one
};
using MissingNumber = std::variant<DropRecord, MiddleOfRange, MissingIndicator, FillNumber>;
using MissingLevel = std::variant<DropRecord, MissingIndicator, FillLevel>;

/// "drop", "middle", "indicator" or "value:X", as it is written in bounds and options.
[[nodiscard]] std::string name(const MissingNumber& rule);
[[nodiscard]] std::string name(const MissingLevel& rule);
/// Reads such a name.
/// Throws   InvalidArgument at `where`.
[[nodiscard]] MissingNumber parse_missing(const std::string& text, const Where& where);
/// The rule of categories where `rule` is that of a whole table: the middle and a value are no levels, so that such records are dropped.
[[nodiscard]] MissingLevel of_categories(const MissingNumber& rule);

/// A feature in a range known beforehand; rows outside are moved to its ends.
struct NumericColumn {
  std::string name;
  double low, high;
  MissingNumber missing = DropRecord{};
};

/// A feature that is one of these texts. The first is the reference, whose indicators are all 0, as are those of any other text that is not missing.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> levels;
  MissingLevel missing = DropRecord{};
};

using FeatureColumn = std::variant<NumericColumn, CategoryColumn>;
[[nodiscard]] const std::string& name(const FeatureColumn& column);
/// Its features: one, or one for each level but the first; and one more where a further one says that the value is missing, the last of them.
[[nodiscard]] Eigen::Index width_of(const FeatureColumn& column);
[[nodiscard]] bool has_indicator(const FeatureColumn& column);

/// What is known about a table without looking at it (Spec §21.2). Everything that a private fit does rests on this and on what it has released;
/// ranges, levels or counts taken from the table itself void the guarantee.
struct PublicTable {
  std::vector<FeatureColumn> features;
  std::string target;
  double target_low = 0.0, target_high = 0.0;  ///< of a quantity
  /// A quantity is moved to this distance from the middle of its range where it is further away; none: to its ends. Further where the range was narrowed
  /// for the scale of residuals alone, and gradients are clipped.
  std::optional<double> target_reach = {};
  std::vector<std::string> classes =
      {};  ///< of a class; two for `logistic`, the second is the positive one
  bool intercept = true;
  std::uint64_t rows = 0;  ///< N: no table has more
  std::optional<double> row_norm =
      {};  ///< rows longer than this are scaled down; none: the longest row there can be
  NeighbouringRelation relation = NeighbouringRelation::add_remove;
  std::vector<std::string> sources =
      {};  ///< where the numbers come from, one for each feature and the target

  /// Parameters per class: those of each column (width_of()), and the intercept.
  [[nodiscard]] Eigen::Index dim() const;
  /// "age", "age=(missing)", "education=Masters", "intercept".
  [[nodiscard]] std::vector<std::string> parameters() const;
  /// The norm that no row exceeds (Spec §22.1).
  [[nodiscard]] double bound() const;
  /// Half the range of the target, around its middle.
  [[nodiscard]] double target_bound() const { return 0.5 * (target_high - target_low); }
};

/// Checks names, ranges, levels, classes for the model and the number of rows.
/// Throws   InvalidArgument naming the column.
void require_public(const PublicTable& table, FitModel model);

/// Reads a CSV of declarations with the columns
///   column, kind (numeric | category | target | ignore), low, high, levels (a|b|c), source, and if wanted missing (drop | middle | indicator | value:X)
/// and two rows for the table as a whole: `(records)`, N under `high`, and `(adjacency)`, its name under `levels`. Features are those declared, in
/// the order of the file; `missing` is the rule of columns that declare none.
/// Throws   InvalidArgument with file and line for what is missing, contradictory or no number.
[[nodiscard]] PublicTable read_public_table(const std::string& path, FitModel model,
                                            const MissingNumber& missing = DropRecord{});

/// "drop in age, city; middle in income", or the rule alone where all columns have the same.
[[nodiscard]] std::string describe_missing(const PublicTable& table);

/// Such a file to be filled in from outside knowledge: the names of the columns and no number.
[[nodiscard]] std::string public_table_template(const std::vector<std::string>& columns,
                                                const std::string& target);

}  // namespace sfumato
