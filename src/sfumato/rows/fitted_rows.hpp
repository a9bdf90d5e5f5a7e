#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/regression_table.hpp"
#include "sfumato/rows/release_cost.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/rows/rows_question.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"
#include "sfumato/sde/problem/ridge.hpp"

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

/// The model of a question, fitted once: risks and costs of any release of it.
/// Assumes  the input outlives it.
class FittedRows {
 public:
  /// Throws   as RidgeProblem and ClassificationFit; Stopped if the observer asks for it meanwhile.
  FittedRows(const RowsQuestion& question, const RegressionInput& input, Observer& observer);

  /// Exact or bounded, as the model allows; what limits bounds is added to `notes`.
  /// Throws   as row_risks() and row_bounds().
  [[nodiscard]] std::vector<RowRisk> risks(const RowRiskOptions& options, Observer& observer,
                                           std::vector<std::string>& notes) const;

  /// In units of the table; none where the release has no distribution of its own in double precision, or more than 2,000
  /// parameters (500 that are trained).
  [[nodiscard]] std::optional<ReleaseCost> cost(const Release& release) const;

  /// Whether a part of the risk may stay however large the noise: where rows change the shape of the distribution.
  [[nodiscard]] bool has_floor(const Release& release) const;

  /// The fit of a logistic model, else null.
  [[nodiscard]] const ClassificationFit* classification() const {
    return std::get_if<ClassificationFit>(&model_);
  }

 private:
  const RegressionInput& input_;
  std::variant<RidgeProblem, ClassificationFit> model_;
};

/// The same release with `factor` times its noise.
[[nodiscard]] Release with_noise_times(Release release, double factor);

/// The same release with isotropic noise of that variance.
[[nodiscard]] Release with_variance(Release release, double variance);

}  // namespace sfumato
