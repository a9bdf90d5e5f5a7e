#pragma once

#include <string>
#include <vector>

#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato {

/// What an observation is in a sentence: "t = 0.5", "100 steps"; and as the first column of its rows.
[[nodiscard]] Text look_text(const QuadraticQuestion& question, const Observation& observation);
[[nodiscard]] RowField<Observation> look_field(const QuadraticQuestion& question);

/// Every number of an observation: the tables risk and accuracy in full, the brief table and the results follow from
/// these two lists.
[[nodiscard]] RowFields<Observation> risk_fields(const QuadraticAnswer& answer);
[[nodiscard]] RowFields<Observation> accuracy_fields();

/// All tables in full, in their order: the problem, one row per observation for risk and accuracy, one per observation
/// and epsilon, delta, order or direction for the others.
[[nodiscard]] std::vector<Table> full_tables(const QuadraticAnswer& answer);
/// The numbers that carry the answer, in the worse direction.
[[nodiscard]] Table brief_risk_table(const QuadraticAnswer& answer);

/// KL and delta over time or steps, both directions.
void add_training_figures(const QuadraticAnswer& answer, Document& document);
/// The trade-off curve of the last observation that has a risk.
void add_tradeoff(const QuadraticAnswer& answer, Document& document);

}  // namespace sfumato
