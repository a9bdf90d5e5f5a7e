#pragma once

#include <vector>

#include "sfumato/answers/quadratic/observation.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// What the theorems about a chain say beside the exact KL of its last iterate, one row per
/// observation and direction: the contractive bound (Spec §8.3), the KL of the whole paths (Spec
/// §8.2) and, where the steps differ by a constant, mu (Spec §8.4).
///
/// Assumes   the problem is a chain.
[[nodiscard]] Table chain_bounds_table(const QuadraticProblem& problem,
                                       const std::vector<Observation>& observations);

}  // namespace sfumato
