#pragma once

#include <functional>

namespace sfumato {

/// Where an integrand over [0, t] changes fast. The panels start at these lengths and grow by a
/// factor 4 towards the middle, so that a layer of width 1e-12 beside a plateau of 1e4 is seen.
struct TimeScales {
  double at_start;  ///< shortest time in which it changes near 0; +inf when nothing is known
  double at_end;    ///< the same near t, e.g. 1/kappa for a factor e^{-kappa (t - s)}
};

/// A function of the time s and of what is left until the end, t - s, which is passed apart: near
/// the end of a long horizon the difference would have lost its digits.
using TimeFunction = std::function<double(double time, double left)>;

/// Integral over [0, time] of a function that is not negative, rounded up: adaptive Gauss-Kronrod
/// (10, 21) with its error estimate added. Relative accuracy about 1e-11 for functions that are
/// smooth or have square-root singularities at 0 (the first panel is integrated in sqrt(s)); less
/// accurate results are larger.
///
/// Edges    time = 0 gives 0; a value of +inf at any node gives +inf.
/// Throws   InvalidArgument unless time is finite and not negative; NumericalFailure if the
///          function returns NaN.
[[nodiscard]] double upper_integral(const TimeFunction& function, double time,
                                    const TimeScales& scales);

}  // namespace sfumato
