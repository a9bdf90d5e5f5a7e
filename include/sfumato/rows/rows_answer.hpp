#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/rows/release_cost.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/rows/rows_question.hpp"

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

/// Risk and accuracy at one noise, each risk in the worse direction.
struct NoisePoint {
  double noise;                   ///< variance, or multiple of the covariance of the question
  RiskNumber advantage, epsilon;  ///< of the worst row; NaN if no row has a number
  RiskNumber high_advantage;      ///< that 99 % of the rows do not exceed
  RiskNumber median_advantage;
  std::optional<ReleaseCost> cost;
  std::size_t unknown =
      0;  ///< rows without a number: no model without them, or no trustworthy number
};

/// What remains of the worst risks however large the noise is.
struct RiskFloor {
  RiskNumber advantage, epsilon;
};

/// How the search for a noise ended.
struct NoiseSearch {
  bool reached = false;
  double noise = 0.0;       ///< variance, or multiple of the covariance of the question
  std::string reason = {};  ///< why the goal is out of reach; else empty
  bool unlimited = false;   ///< the risks of the answer are those that remain at unlimited noise
};

/// The risk of every row of a table.
struct RowsAnswer {
  RowsQuestion question;
  Release release;                           ///< what is published, the noise spelt out
  std::vector<std::string> parameters = {};  ///< names, the intercept last
  std::size_t dropped = 0;                   ///< rows left out because a value was missing
  std::vector<std::string> not_rescaled =
      {};  ///< columns left as they are although others were rescaled
  std::vector<ColumnCoding> codings = {};  ///< how the columns of the file were read
  std::optional<SpreadGap> spread = {};    ///< of numbers that were not standardised

  std::vector<Epsilon> epsilons = {};  ///< where `risks` have their deltas
  /// In the order of the table; of several noises those at the last, of a goal out of reach those that remain at
  /// unlimited noise.
  std::vector<RowRisk> risks = {};
  /// Of what is released, on the rows of the table; none where it has no distribution, or at unlimited noise.
  std::optional<ReleaseCost> cost = {};
  std::vector<NoisePoint> sweep = {};      ///< of several noises
  std::optional<RiskFloor> floor = {};     ///< of several noises and searches
  std::optional<NoiseSearch> search = {};  ///< of a goal
  std::vector<Eigen::Index> above =
      {};  ///< rows that are not known to be within the question's max_advantage
  std::vector<std::size_t> lines = {};  ///< of the file, for each row
  std::vector<std::string> ids = {};    ///< of each row, if the question names a column
  /// Of a logistic model, for each row: the norm of the features, which bounds its gradient, and the probability
  /// that the noiseless fit gives to its own label. Else empty.
  Eigen::VectorXd norms = {}, fitted = {};
  std::vector<CheckedRow> checks = {};  ///< bounds beside simulated paths
  std::vector<std::string> notes = {};  ///< bounds that do not apply, tolerances that were used
  bool stopped = false;                 ///< before every row was computed and checked

  /// Violated: a bound was refuted by a simulation, a row is above max_advantage, or the goal is out of reach. Open: only
  /// upper bounds are above max_advantage. Holds: no row is above it.
  Verdict verdict = Verdict::none;
};

/// Reads the table, fits the model and compares it with the model of each neighbour: exactly for ridge
/// regression, by proven upper bounds for logistic regression.
///
/// Of several noises it does so for each; for a goal it finds the noise.
///
/// Stops    when the observer asks; the remaining rows are not_computed, and noises not compared.
/// Throws   InvalidArgument at a key of the question or a place in one of its files; NumericalFailure where there
///          is no model or no bound, as row_risks() and row_bounds().
[[nodiscard]] RowsAnswer answer(const RowsQuestion& question, Observer& observer);

/// In brief the riskiest rows, each by its worse direction, and the median. In full both directions, quantiles, a
/// histogram and the checks as well.
[[nodiscard]] Document document_of(const RowsAnswer& answer, Detail detail);

}  // namespace sfumato
