#pragma once

#include <cstdint>

#include "sfumato/audit/clopper_pearson.hpp"

namespace sfumato {

/// Interval for the area under a ROC curve of independent scores: Newcombe's score method for
/// Hanley and McNeil's variance [Newcombe2006, method 5]. Approximate, but with sensible ends where the
/// usual normal intervals break down, at 0 and 1. Records scored on one model are not independent:
/// for them it describes these records on this model.
///
/// Throws   InvalidArgument if auc is not in [0, 1], a group is empty, or confidence is not in (0, 1).
[[nodiscard]] ProbabilityInterval auc_interval(double auc, std::uint64_t members,
                                               std::uint64_t non_members, double confidence);

}  // namespace sfumato
