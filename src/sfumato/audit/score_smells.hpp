#pragma once

#include <cstddef>
#include <optional>

#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

/// Whether both worlds have the same scores: one file given twice, under whatever name, or a copy of it
/// with its rows in another order. Values that repeat, as binary scores do, may agree by chance in
/// another order, and do not count.
[[nodiscard]] bool same_scores(const ScoreSample& sample);

/// The first world where scores that look continuous (six digits or more) repeat: at least two values, and
/// more than one of fifty scores; or where all scores, of at least twelve values, occur the same number of times over; or where twelve or
/// more are one value that is no whole number. Copies of one model are no independent models. A single value among others may be where scores saturate.
[[nodiscard]] std::optional<RepeatedScores> repeated_scores(const ScoreSample& sample);

/// Whether non-members score higher than members, beyond chance: the AUC is below 1/2 with confidence 99.9 %.
/// Where a world is empty nothing is reversed.
[[nodiscard]] bool scores_reversed(const ScoreSample& sample);

}  // namespace sfumato
