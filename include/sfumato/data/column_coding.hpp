#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

/// What to do with missing values.
enum class Impute {
  refuse,
  drop,    ///< leave the row out
  median,  ///< of the column's numbers; of categories and booleans the most frequent value
  mode,    ///< the most frequent value, the least of several
};

/// "refuse", "drop", "median" or "mode".
[[nodiscard]] std::string_view name(Impute impute);

enum class ColumnKind {
  number,
  boolean,   ///< True and False, or yes and no, in any case: 1 and 0
  category,  ///< texts: an indicator of each level but the reference
};

/// How a column of a file becomes columns of numbers. Levels, their numbers of rows and the fill are taken from
/// the table, so they depend on its rows.
struct ColumnCoding {
  std::string column;
  ColumnKind kind = ColumnKind::number;
  std::vector<std::string> levels = {};  ///< of a category: the reference, then the others, sorted
  std::vector<std::size_t> counts = {};  ///< rows of each level, without those that were missing
  double fill = 0.0;                     ///< for missing values; of a category the place of a level
  std::size_t filled = 0;                ///< missing values of the table that it was made from

  /// How many columns of numbers it becomes.
  [[nodiscard]] std::size_t width() const {
    return kind == ColumnKind::category ? levels.size() - 1 : 1;
  }
};

/// The columns whose numbers vary most and least.
struct SpreadGap {
  std::string widest, narrowest;
  double ratio;  ///< of their standard deviations
};

}  // namespace sfumato
