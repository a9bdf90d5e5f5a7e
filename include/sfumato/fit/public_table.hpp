#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/privacy/accounting/release.hpp"

namespace sfumato {

enum class FitModel {
  ridge,     ///< a quantity by least squares
  logistic,  ///< one of two classes
  softmax,   ///< one of several
};
/// "ridge", "logistic" or "softmax".
[[nodiscard]] std::string_view name(FitModel model);

/// A feature in a range known beforehand; rows outside are moved to its ends.
struct NumericColumn {
  std::string name;
  double low, high;
};

/// A feature that is one of these texts. The first is the reference, whose indicators are all 0, as are those of any other text.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> levels;
};

using FeatureColumn = std::variant<NumericColumn, CategoryColumn>;

/// What is known about a table without looking at it (Spec §21.2). Everything that a private fit does rests on this and on what it has released;
/// ranges, levels or counts taken from the table itself void the guarantee.
struct PublicTable {
  std::vector<FeatureColumn> features;
  std::string target;
  double target_low = 0.0, target_high = 0.0;  ///< of a quantity
  std::vector<std::string> classes =
      {};  ///< of a class; two for `logistic`, the second is the positive one
  bool intercept = true;
  std::uint64_t rows = 0;  ///< N: no table has more
  std::optional<double> row_norm =
      {};  ///< rows longer than this are scaled down; none: the longest row there can be
  NeighbouringRelation relation = NeighbouringRelation::add_remove;
  std::vector<std::string> sources =
      {};  ///< where the numbers come from, one for each feature and the target

  /// Parameters per class: one for each feature, one for each level but the first, and the intercept.
  [[nodiscard]] Eigen::Index dim() const;
  /// "age", "education=Masters", "intercept".
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
///   column, kind (numeric | category | target | ignore), low, high, levels (a|b|c), source
/// and two rows for the table as a whole: `(records)`, N under `high`, and `(adjacency)`, its name under `levels`. Features are those declared, in
/// the order of the file.
/// Throws   InvalidArgument with file and line for what is missing, contradictory or no number.
[[nodiscard]] PublicTable read_public_table(const std::string& path, FitModel model);

/// Such a file to be filled in from outside knowledge: the names of the columns and no number.
[[nodiscard]] std::string public_table_template(const std::vector<std::string>& columns,
                                                const std::string& target);

}  // namespace sfumato
