#pragma once

#include <cstddef>

#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato {

/// What bounds are called that rest on proofs, or on what the question assumes.
[[nodiscard]] const char* bounds_text(const BoundAnswer& answer);

/// Every method at one time, both directions; `index` is that of the time.
[[nodiscard]] Table method_table(const BoundAnswer& answer, std::size_t index);

/// One row per method that has a number, one column per time, in the worse direction; the best proven bound
/// first.
[[nodiscard]] Table method_by_time_table(const BoundAnswer& answer);

/// What follows for an attacker: one row per time and kind of evidence.
[[nodiscard]] Table bound_risk_table(const BoundAnswer& answer);
/// One row per time, epsilon and kind of evidence.
[[nodiscard]] Table bound_delta_table(const BoundAnswer& answer);

/// Every KL, and what follows for an attacker, for programs.
void add_results(const BoundAnswer& answer, Document& document);

/// KL(D||D') by every method over the finite times; without series if there is nothing to draw.
[[nodiscard]] Figure bound_figure(const BoundAnswer& answer);

}  // namespace sfumato
