#pragma once

#include "sfumato/fit/fit_answer.hpp"

namespace sfumato {

/// Audits the implementation: fits of a table with one canary and of an empty one, told apart by their likelihood ratio, against the plan's mu.
[[nodiscard]] FitAudit audit_by_canary(const PublicTable& table, const FitPlan& plan,
                                       const FitQuestion& question, Observer& observer);

}  // namespace sfumato
