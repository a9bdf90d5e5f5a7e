#pragma once

#include <vector>

#include "sfumato/answers/quadratic/observation.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// What the rows of a table are about: times, numbers of steps, or the release.
[[nodiscard]] Column label_column(const QuadraticProblem& problem);

/// Sizes, eigenvalues, minimisers and noise of both data sets.
[[nodiscard]] Table problem_table(const QuadraticProblem& problem);

/// One row per observation: KL both ways, advantage, true-positive rates, mu where it exists.
[[nodiscard]] Table risk_table(const QuadraticProblem& problem,
                               const std::vector<Observation>& observations);
/// One row per observation and epsilon.
[[nodiscard]] Table delta_table(const QuadraticProblem& problem,
                                const std::vector<Observation>& observations);
/// One row per observation and delta.
[[nodiscard]] Table epsilon_table(const QuadraticProblem& problem,
                                  const std::vector<Observation>& observations);
/// One row per observation and order.
[[nodiscard]] Table renyi_table(const QuadraticProblem& problem,
                                const std::vector<Observation>& observations);
/// One row per observation: error and excess loss of both models.
[[nodiscard]] Table accuracy_table(const QuadraticProblem& problem,
                                   const std::vector<Observation>& observations);
/// One row per observation: what remains of KL and advantage when noise -> c noise, c -> inf.
[[nodiscard]] Table floor_table(const QuadraticProblem& problem,
                                const std::vector<Observation>& observations);

}  // namespace sfumato
