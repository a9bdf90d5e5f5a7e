#pragma once

#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// The risk of every row of a ridge regression: the two distributions of the release with and without it are
/// normal and compared exactly (Spec §5 for the flow, §8 for the chain).
///
/// Digits   every distribution has eight (compare_precisely); a row that has not is `failed`.
/// Cost     linear in rows, O(p^2) for each with flow at +inf and isotropic noise, else O(p^3); the
///          divergences come on top. A wide table
///          (more columns than rows and than kLargestWide) has N parameters where the noise is isotropic. The
///          result does not depend on `threads`, nor the time it takes on the number of steps.
/// Stops    when the observer asks; the remaining rows are not_computed.
/// Throws   InvalidArgument for noise, start or replacement of the wrong size, a noise that is not a
///          covariance, time < 0 or NaN, steps that are no whole number, a learning rate that is not
///          positive; NumericalFailure if the whole table has no minimiser (or no distribution after so long)
///          where one is needed.
[[nodiscard]] std::vector<RowRisk> row_risks(const RidgeProblem& problem,
                                             const RowRiskOptions& options, Observer& observer);

}  // namespace sfumato
