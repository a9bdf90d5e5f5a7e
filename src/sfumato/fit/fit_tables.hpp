#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato {

/// How much of a normal distribution lies within so many standard deviations: 95 %.
inline constexpr double kNormal95 = 1.959963984540054;
/// Coefficients that a brief document shows.
inline constexpr std::size_t kBriefCoefficients = 10;

/// What is known of the privacy loss mu from one side. From a list of them follow the table, the figure, and results.
struct FitBound {
  std::string key;    ///< of its column in the figure
  std::string label;  ///< there
  std::string title;  ///< of its row in the table
  Claimed<double> mu;
  std::string row = {};  ///< of a risk of rows: "median"
};
/// From below to above: what a canary shows, what the rows of this table add, what is proven of every table. Answers that were
/// not asked for are left out.
[[nodiscard]] std::vector<FitBound> bounds_of(const FitAnswer& answer);

/// One coefficient of the released model.
struct FitCoefficient {
  std::string feature;               ///< or "intercept"
  std::optional<std::string> group;  ///< class, where there are several
  double value;
  std::optional<double> error;  ///< standard error

  [[nodiscard]] Claimed<double> away(double errors) const;  ///< the end of an interval
};
/// Class by class, the intercept of each last.
[[nodiscard]] std::vector<FitCoefficient> coefficients_of(const FitAnswer& answer);

/// The numbers of the answer as a whole: the guarantee and the accuracy.
[[nodiscard]] RowFields<FitAnswer> guarantee_fields(const FitAnswer& answer);
/// Those of its audit.
[[nodiscard]] RowFields<FitAudit> audit_fields();
[[nodiscard]] RowFields<FitBound> bound_fields(const FitAnswer& answer);
[[nodiscard]] RowFields<FitCoefficient> coefficient_fields(const FitAnswer& answer);

[[nodiscard]] Table bounds_table(const FitAnswer& answer);
[[nodiscard]] Table coefficients_table(const FitAnswer& answer, Detail detail);
[[nodiscard]] Table budget_table(const FitAnswer& answer);
[[nodiscard]] Table predictions_table(const FitAnswer& answer);
[[nodiscard]] Table settings_table(const FitAnswer& answer);
/// What was declared before the table was opened.
[[nodiscard]] Table public_table(const FitAnswer& answer);

/// bounds_table() in one picture; there is an audit, or rows.
[[nodiscard]] Figure bounds_figure(const FitAnswer& answer);
/// What the fit would explain at other epsilons, the one that was taken marked: from public quantities and the released
/// accuracy, so that it costs nothing. None where several fits were made, or the prediction is of no use.
[[nodiscard]] std::optional<Figure> by_epsilon_figure(const FitAnswer& answer);
/// What a feature changes from one end of its range to the other, or a level against the reference, with intervals:
/// comparable across units.
[[nodiscard]] Figure effects_figure(const FitAnswer& answer);

}  // namespace sfumato
