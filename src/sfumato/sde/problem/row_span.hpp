#pragma once

#include <optional>

#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// A ridge problem in coordinates of the span of its rows.
struct RowSpan {
  RidgeProblem problem;
  std::optional<Record> replacement;
};

/// The problem rotated so that all its rows, and the replacement of one, have zeros but in the first
/// N (N + 1) coordinates, and without the others: there D and D' agree as long as noise and start look
/// the same from every side. For tables with more columns than rows.
///
/// `last_first` takes the columns in the opposite order: the same problem with other rounding.
/// Throws   Stopped if the observer asked to stop.
[[nodiscard]] RowSpan span_of_rows(const RidgeProblem& problem,
                                   const std::optional<Record>& replacement, bool last_first,
                                   const Observer& observer);

}  // namespace sfumato
