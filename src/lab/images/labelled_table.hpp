#pragma once

#include <string>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

struct LabelledTableOptions {
  /// The column of labels: its name where the file has a header, its number (from 1) where it has none
  /// (NPY, CSV without header). Empty: the last.
  std::string label = {};
  int classes = 0;                       ///< 0: the largest label plus one, but at least 2
  Standardisation standardisation = {};  ///< one constant per feature column, or none
  /// The table that this one is to be read like, column by column: a test table is coded as its training table was.
  const LabelledSet* like = nullptr;
};

/// A CSV or NPY table, one record per row, as a set to train on: one column holds the class (an integer
/// from 0), all others are features: numbers, booleans as 0 and 1, texts as indicators of their levels.
///
/// Throws   InvalidArgument naming the file and row for a label that is not an integer in 0 .. classes - 1
///          (0 .. 255), a column that does not exist, no feature, a value beyond single precision; as
///          read_csv_matrix(), read_npy() and require_consistent().
[[nodiscard]] LabelledSet read_labelled_table(const std::string& path,
                                              const LabelledTableOptions& options = {});

}  // namespace sfumato::lab
