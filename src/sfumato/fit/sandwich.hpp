#pragma once

#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// Privacy loss from below and from above: what a canary shows, what the rows of this table add, what is proven of every table. Answers that were not
/// asked for are left out.
[[nodiscard]] Table sandwich_table(const FitAnswer& answer);
/// The same in one picture; there is an audit, or rows.
[[nodiscard]] Figure sandwich_figure(const FitAnswer& answer);

}  // namespace sfumato
