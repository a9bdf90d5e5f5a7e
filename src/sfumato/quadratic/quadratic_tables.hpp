#pragma once

#include <string>

#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// What an observation is in a sentence: "t = 0.5", "100 steps"; and in a row.
[[nodiscard]] std::string look_text(const QuadraticQuestion& question,
                                    const Observation& observation);
[[nodiscard]] Cell look_cell(const QuadraticQuestion& question, const Observation& observation);
/// What the rows of a table are about: times, numbers of steps, or the release.
[[nodiscard]] Column look_column(const QuadraticQuestion& question);

/// Sizes, eigenvalues, minimisers and noise of both data sets.
[[nodiscard]] Table problem_table(const QuadraticAnswer& answer);
/// One row per observation: KL both ways, advantage, true-positive rates, mu where it exists.
[[nodiscard]] Table risk_table(const QuadraticAnswer& answer);
/// The numbers that carry the answer, in the worse direction.
[[nodiscard]] Table brief_risk_table(const QuadraticAnswer& answer);
/// One row per observation and epsilon.
[[nodiscard]] Table delta_table(const QuadraticAnswer& answer);
/// One row per observation and delta.
[[nodiscard]] Table epsilon_table(const QuadraticAnswer& answer);
/// One row per observation and order.
[[nodiscard]] Table renyi_table(const QuadraticAnswer& answer);
/// One row per observation and direction: theorems about the chain beside its exact KL.
[[nodiscard]] Table chain_bounds_table(const QuadraticAnswer& answer);
/// One row per observation: error and excess loss of both models.
[[nodiscard]] Table accuracy_table(const QuadraticAnswer& answer);
/// One row per observation: what remains of KL and advantage when noise -> c noise, c -> inf.
[[nodiscard]] Table floor_table(const QuadraticAnswer& answer);

}  // namespace sfumato
