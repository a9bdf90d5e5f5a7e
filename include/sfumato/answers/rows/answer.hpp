#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/answers/rows/question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/privacy/row_risk.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// An estimate above its bound by more standard errors than this refutes the bound: a false alarm in 30,000
/// checks, were the bound attained.
inline constexpr double kAllowedErrors = 4.0;

/// A row's proven bound beside the estimate from simulated paths.
struct CheckedRow {
  RowRisk risk;
  RowCheck check;

  /// Violated: the estimate is more than kAllowedErrors above the bound. Open: there is no estimate, or it is
  /// one of the long run, where the proven bound has another argument too and may be the smaller one.
  [[nodiscard]] Verdict verdict() const;
};

/// The risk of every row of a table.
struct RowsAnswer {
  RowsQuestion question;
  Release release;                           ///< what is published, the noise spelt out
  std::vector<std::string> parameters = {};  ///< names, the intercept last
  std::size_t dropped = 0;                   ///< rows left out because a value was missing
  std::vector<std::string> not_rescaled =
      {};  ///< columns left as they are although others were rescaled

  std::vector<Epsilon> epsilons = {};   ///< where `risks` have their deltas
  std::vector<RowRisk> risks = {};      ///< in the order of the table
  std::vector<std::size_t> lines = {};  ///< of the file, for each row
  std::vector<std::string> ids = {};    ///< of each row, if the question names a column
  /// Of a logistic model, for each row: the norm of the features, which bounds its gradient, and the probability
  /// that the noiseless fit gives to its own label. Else empty.
  Eigen::VectorXd norms = {}, fitted = {};
  std::vector<CheckedRow> checks = {};  ///< bounds beside simulated paths
  std::vector<std::string> notes = {};  ///< bounds that do not apply, tolerances that were used
  bool stopped = false;                 ///< before every row was computed and checked

  /// Of the bounds: refuted by a simulation, or none.
  Verdict verdict = Verdict::none;
};

/// Reads the table, fits the model and compares it with the model of each neighbour: exactly for ridge
/// regression, by proven upper bounds for logistic regression.
///
/// Stops    when the observer asks; the remaining rows are not_computed.
/// Throws   InvalidArgument at a key of the question or a place in one of its files; NumericalFailure where there
///          is no model or no bound, as row_risks() and row_bounds().
[[nodiscard]] RowsAnswer answer(const RowsQuestion& question, Observer& observer);

/// In brief the riskiest rows, each by its worse direction, and the median. In full both directions, quantiles, a
/// histogram and the checks as well.
[[nodiscard]] Document document_of(const RowsAnswer& answer, Detail detail);

}  // namespace sfumato
