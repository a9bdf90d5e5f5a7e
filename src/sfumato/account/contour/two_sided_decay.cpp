#include "sfumato/account/contour/two_sided_decay.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "sfumato/account/contour/numbers.hpp"
#include "sfumato/account/contour/panels.hpp"

namespace sfumato {
namespace {

constexpr double kMostPoints = 2e4;  // of a law
constexpr int kMostSteps = 2000;     // along the line
constexpr int kCells = 4096;         // in which a peak is looked for

/// log r(z), z >= m/2, where it is not negative.
double log_ratio(const TwoSidedGaussian& step, double z) {
  const double a = step.m * (z - 0.5 * step.m);
  if (a < 30.0) return std::log1p(step.q * std::expm1(a));
  return a + std::log(step.q) + std::log1p((1.0 - step.q) / step.q * std::exp(-a));
}

/// The largest log of e^{m^2} phi(z + m) r(z)^p / (m q) over z >= m/2, rounded up: in each cell the larger end of either factor.
/// Beyond z = (p - 1) m it falls.
double log_peak(const TwoSidedGaussian& step, double p) {
  const double m = step.m, first = 0.5 * m, last = std::max(first, (p - 1.0) * m);
  const double constant =
      m * m - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(m * step.q) + 1e-9;
  if (last == first) return constant - 0.5 * (first + m) * (first + m);  // r = 1 there
  const double width = (last - first) / kCells;
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kCells; ++i) {
    const double left = first + i * width, right = left + 1.001 * width;
    best = std::max(best, p * log_ratio(step, right) - 0.5 * (left + m) * (left + m));
  }
  return constant + best + 1e-12 * std::fabs(p) * m * last;
}

}  // namespace

DecayBound log_bound_beyond(const TwoSidedGaussian& step, const StepCumulant& here, double s0,
                            double reach, double enough) {
  if (!std::isfinite(here.value) || !std::isfinite(here.error)) return {0.0, 0.0};
  // All in units of M(s0).
  const double unit = here.value - here.error;
  const double atom = (1.0 - step.q) * std::erf(0.5 * step.m / std::numbers::sqrt2) *
                      std::exp(-unit) * (1.0 + 1e-12);
  const double bound = std::max(std::exp(enough), atom + 0.1 * (1.0 - atom));
  if (!(bound < 1.0 && atom < 1.0)) return {0.0, 0.0};
  const double variation =
      4.0 * (std::exp(log_peak(step, 2.0 + s0) - unit) + std::exp(log_peak(step, 1.0 - s0) - unit));
  const double far = 1.001 * variation / (bound - atom);
  // E |L| <= sqrt(E L^2). The panels err in E L^2 by at most (largest |L| + pi)^2 times as much as in M.
  const double square = here.variance + here.mean * here.mean;
  const double largest = step.m * (step.m * (1.5 + std::fabs(s0)) + 10.0) + 4.0;
  if (!(here.error * largest * largest < 0.01 * square)) return {0.0, 0.0};
  const double steepest = 1.01 * std::sqrt(square);
  if (!std::isfinite(far) || !std::isfinite(steepest)) return {0.0, 0.0};
  double points = 0.0;
  int steps = 0;
  for (double y = reach; y < far;) {
    const double end = std::min(2.0 * y, 1.001 * far);
    if (!(panels::points_of(step, s0, end) < kMostPoints)) return {0.0, points};
    const TiltedLaw law = panels::tilted_law(step, s0, end);
    points += static_cast<double>(law.size());
    while (y < end && y < far) {
      const double here_at_most =
          std::abs(1.0 + law.change_at(y)) * (1.0 + 8.0 * kUnit) + law.error_at(y);
      points += 0.1 * static_cast<double>(law.size());  // a tenth of the time of making them
      const double room = bound - here_at_most;
      if (!(room > 1e-9 * y * steepest) || ++steps > kMostSteps) return {0.0, points};
      y += room / steepest;
    }
  }
  return {std::log(bound) + 4.0 * kUnit, points};
}

}  // namespace sfumato
