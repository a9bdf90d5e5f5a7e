#include "sfumato/sde/time_grid.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {

std::vector<TimeSegment> segments(const TimeGrid& grid) {
  const Where where = Where::here("TimeGrid");
  require_positive("step", grid.step, where);
  if (grid.times.empty()) throw InvalidArgument("no times to report", "Pass one or more", where);
  std::vector<TimeSegment> result;
  double start = 0.0;
  std::uint64_t first_step = 0;
  for (const double end : grid.times) {
    require_finite("time", end, where);
    if (end < start) {
      throw InvalidArgument(fmt::format("time {} comes after {}", end, start),
                            "Pass times >= 0 in ascending order", where);
    }
    const double wanted = std::ceil((end - start) / grid.step * (1.0 - 1e-9));
    if (!(wanted + static_cast<double>(first_step) <= 0x1p40)) {
      throw InvalidArgument(
          fmt::format("step {} is too short for time {}: more than 2^40 steps", grid.step, end),
          "Pass a longer step", where);
    }
    const auto steps = static_cast<std::uint64_t>(wanted);
    const double step = steps == 0 ? 0.0 : (end - start) / wanted;
    result.push_back({start, end, step, first_step, steps});
    first_step += steps;
    start = end;
  }
  return result;
}

}  // namespace sfumato
