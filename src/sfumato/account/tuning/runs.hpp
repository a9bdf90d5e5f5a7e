#pragma once

#include "sfumato/account/accountant/tuning.hpp"

namespace sfumato {

/// f'(1 - x) of f(z) = E z^K: how likely an output becomes the released one where a run is better with the probability x, relative to one run alone
/// (Spec §30.1). Falls with x; E K at 0, P(K = 1) at 1.
[[nodiscard]] double selection_weight(const RunsDistribution& runs, double x);

/// 1 - f(1 - d): the probability that some run falls into a set that one falls into with the probability d.
[[nodiscard]] double probability_of_some(const RunsDistribution& runs, double d);

/// Its inverse: d at which that is p, p in [0, 1 - P(K = 0)).
[[nodiscard]] double probability_of_each(const RunsDistribution& runs, double p);

}  // namespace sfumato
