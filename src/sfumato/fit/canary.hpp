#pragma once

#include <cstdint>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// How much what a fit releases looks like that of a table with one record rather than none: the logarithm of the likelihood ratio, of all iterates
/// where they are public (Spec §25.2). The record, as long as it may be and always clipped, moves every release as far as the guarantee
/// allows; `present` says whether it is there. No private table is read.
[[nodiscard]] double canary_score(const PublicTable& table, const FitPlan& plan, bool present,
                                  const ReleaseKey& key, Observer& observer);

}  // namespace sfumato
