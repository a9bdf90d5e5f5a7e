#pragma once

#include <string>
#include <string_view>

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Adds how well what is released predicts, as a table or in a sentence, and a warning if it predicts nothing.
void add_cost(Document& document, const RowsAnswer& answer);
void add_cost_in_brief(Document& document, const RowsAnswer& answer);
/// "`opening`: expected R^2 = ..."; empty where nothing is known of it.
[[nodiscard]] Text cost_sentence(const RowsAnswer& answer, std::string_view opening);
/// The same of the first and the last of several noises.
[[nodiscard]] Text cost_of_noises(const RowsAnswer& answer);
/// Whether a constant would predict as well as the model with this noise.
[[nodiscard]] bool predicts_nothing(const NoisePoint& point);

/// Adds the same numbers for programs.
void add_cost_results(Document& document, const RowsAnswer& answer);

/// Adds the risks and the accuracy of several noises side by side, with the floor.
void add_sweep(Document& document, const RowsAnswer& answer);

/// Adds accuracy against risk, a point for each noise.
void add_sweep_figure(Document& document, const RowsAnswer& answer);

/// Adds which noise reaches the goal of the question, or why none does.
void add_search(Document& document, const RowsAnswer& answer);

/// Adds whether every row is within the question's max_advantage.
void add_gate(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
