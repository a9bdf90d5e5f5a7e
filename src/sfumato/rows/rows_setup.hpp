#pragma once

#include "sfumato/data/csv.hpp"
#include "sfumato/data/regression_table.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/rows/rows_question.hpp"

namespace sfumato {

/// The table of the question, and the record that replaces its rows.
/// Throws   InvalidArgument at the key for a separator that is none; and as read_regression().
[[nodiscard]] RegressionInput read_table(const RowsQuestion& question);

/// What is released and which numbers are wanted.
/// Throws   InvalidArgument with the file for a noise that is not a covariance of that dimension, or is
///          singular where the model needs it not to be.
[[nodiscard]] RowRiskOptions risk_options(const RowsQuestion& question,
                                          const RegressionInput& input);

[[nodiscard]] inline RidgeOptions ridge_options(const RowsQuestion& question) {
  return {question.loss, question.ridge, question.ridge_scale};
}

}  // namespace sfumato
