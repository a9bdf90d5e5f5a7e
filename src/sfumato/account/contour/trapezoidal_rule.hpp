#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "sfumato/account/contour/density_ratio.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"

/// The trapezoidal rule for the integrals of one step over a normal z (Spec §18.1).
namespace sfumato::trapezoidal {

inline constexpr double kTail = 9.5;  ///< standard deviations of what is tilted: 1.1e-21 is beyond
inline constexpr double kNeglected = 60.0;  ///< nats below the largest term
inline const double kLogRootTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

struct Range {
  double low, high;
  [[nodiscard]] double length() const { return high - low; }
};

/// Where the density tilted at s0 is: beyond it 2.2e-21 of M(s0) is left.
[[nodiscard]] Range range_of(const RatioStep& step, double s0);

/// The parts of a range where terms are not negligible, from left to right: beyond them each is less than e^-kNeglected of the largest.
/// By halving intervals; `most_on` bounds the log of the terms of an interval, `at` is the log of a term.
struct Located {
  std::vector<Range> parts;
  double best;  ///< log of the largest term that was met
};
[[nodiscard]] Located located(Range range, const std::function<double(double)>& at,
                              const std::function<double(Range)>& most_on);

/// log of what is left above the range of a step: there the logarithm of the density falls faster than at its end.
[[nodiscard]] double log_above(const RatioStep& step, double s0);

/// The parts of the range of a step that count; all of it where it is short.
[[nodiscard]] Located parts_of(const RatioStep& step, double s0);

/// The largest spacing for which Theorem Q gives an error of e^-40 / k for |Im s| <= reach; `width` is that of a smooth
/// cut (Spec §18.5), infinite where nothing is cut.
[[nodiscard]] double spacing_for(const RatioStep& step, double s0, double reach, double width);

/// The distribution on the points j h with j in whole ranges, with the errors of rounding alone.
[[nodiscard]] TiltedDistribution distribution_on(const RatioStep& step, double s0, double h,
                                                 const std::vector<Range>& whole,
                                                 bool complete = true);

[[nodiscard]] double points_of(const RatioStep& step, double s0, double reach);
[[nodiscard]] TiltedDistribution tilted_distribution(const RatioStep& step, double s0,
                                                     double reach);

}  // namespace sfumato::trapezoidal
