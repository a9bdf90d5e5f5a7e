#pragma once

#include <cstdint>
#include <vector>

namespace sfumato {

/// When a simulation reports, and the longest step it takes between reports.
struct TimeGrid {
  std::vector<double> times;  ///< ascending, >= 0 (the paths start at time 0)
  double step;                ///< > 0
};

/// Equal steps from one reported time (or 0) to the next.
struct TimeSegment {
  double start, end;
  double step;               ///< (end - start) / steps, at most TimeGrid::step
  std::uint64_t first_step;  ///< steps of all segments before
  std::uint64_t steps;       ///< 0 when start = end
};

/// One segment for each reported time: as few steps as TimeGrid::step allows. Steps longer by 1e-9 of
/// themselves are tolerated, so that ten steps of 0.1 reach 1.
///
/// Throws   InvalidArgument if there is no time, one is negative, not finite or out of order, the step
///          is not positive, or more than 2^40 steps would be taken.
[[nodiscard]] std::vector<TimeSegment> segments(const TimeGrid& grid);

}  // namespace sfumato
