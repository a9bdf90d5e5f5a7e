#include "sfumato/account/contour/trapezoidal_rule.hpp"

#include <algorithm>
#include <utility>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato::trapezoidal {
namespace {

constexpr double kHighest =
    14.0;  // no strip that is higher is better: c^2/2 outgrows what is gained

/// The log of a term at z, up to a constant: of what is summed, and of 1, from which it is subtracted.
double log_term(const RatioStep& step, double s0, double z) {
  const RatioStep::Loss at = step.loss_at(z);
  return -0.5 * z * z + std::max(at.log_density + s0 * at.loss, 0.0);
}

/// At least every log_term on [low, high]: log r is increasing.
double most_on(const RatioStep& step, double s0, Range range) {
  const auto power = [&](double p, double from, double to) {
    return p == 0.0 ? 0.0 : p * step.ratio.log_at(p > 0.0 ? to : from).value;
  };
  double exponent = 0.0;
  switch (step.direction) {
    case StepDirection::remove: exponent = power(1.0 + s0, range.low, range.high); break;
    case StepDirection::add: exponent = power(-s0, range.low, range.high); break;
    case StepDirection::replace:
      exponent = power(1.0 + s0, range.low, range.high) + power(-s0, -range.high, -range.low);
      break;
  }
  const double nearest = range.low > 0.0 ? range.low : range.high < 0.0 ? range.high : 0.0;
  return -0.5 * nearest * nearest + std::max(exponent, 0.0);
}

std::vector<Range> joined(std::vector<Range> parts, double gap) {
  std::sort(parts.begin(), parts.end(),
            [](const Range& a, const Range& b) { return a.low < b.low; });
  std::vector<Range> result;
  for (const Range& part : parts) {
    if (!result.empty() && part.low <= result.back().high + gap) {
      result.back().high = part.high;
    } else {
      result.push_back(part);
    }
  }
  return result;
}

}  // namespace

Range range_of(const RatioStep& step, double s0) {
  const double up = std::max(s0, 0.0), down = std::max(-s0, 0.0), m = step.ratio.slope();
  switch (step.direction) {
    case StepDirection::remove: return {-kTail, kTail + m * (1.0 + s0)};
    case StepDirection::add: return {-kTail - m * up, kTail + m * down};
    case StepDirection::replace: return {-kTail - m * down, kTail + m * (1.0 + s0 + up)};
  }
  return {-kTail, kTail};
}

double log_above(const RatioStep& step, double s0) {
  // The derivative of the logarithm is at most what tilts minus z: -kTail at the end.
  const double end = range_of(step, s0).high;
  const RatioStep::Loss at = step.loss_at(end);
  return -0.5 * end * end - kLogRootTwoPi + at.log_density + s0 * at.loss - std::log(kTail) + 1e-6;
}

Located located(Range range, const std::function<double(double)>& at,
                const std::function<double(Range)>& bound) {
  constexpr double fine = 0.5;
  double best =
      std::max({at(std::clamp(0.0, range.low, range.high)), at(range.low), at(range.high)});
  std::vector<Range> open = {range}, kept;
  while (!open.empty()) {
    std::vector<Range> next;
    for (const Range& part : open) best = std::max(best, at(0.5 * (part.low + part.high)));
    for (const Range& part : open) {
      // A part goes only where a proven bound is e^-60 below a value that was seen: whatever the shape, no bump is missed between points.
      if (bound(part) < best - kNeglected) continue;
      if (part.length() <= fine) {
        kept.push_back(part);
        continue;
      }
      const double middle = 0.5 * (part.low + part.high);
      next.push_back({part.low, middle});
      next.push_back({middle, part.high});
    }
    open = std::move(next);
  }
  return {joined(std::move(kept), fine), best};
}

Located parts_of(const RatioStep& step, double s0) {
  const Range range = range_of(step, s0);
  if (range.length() <= 40.0) return {{range}, -kInf};
  return located(
      range, [&](double z) { return log_term(step, s0, z); },
      [&](Range part) { return most_on(step, s0, part); });
}

double spacing_for(const RatioStep& step, double s0, double reach, double width) {
  const double m = step.ratio.slope(), g = step.turns(), p = step.cosine_power(s0);
  double best = 0.0;
  for (int i = 0; i < 19; ++i) {
    const double c = std::min(0.05 * (i + 1), 0.95) * std::min(kPi / m, kHighest);
    // e^-41 = 2e-18 after k steps. A higher strip gains 2 pi c / h, and costs the growth of the density off the axis, of the cut, of e^{iyL}, and
    // of r towards its zeros at pi / m: the best of nineteen heights.
    const double needed = 41.0 + std::log(step.k) + 0.5 * c * c * (1.0 + 1.0 / (width * width)) +
                          g * m * c * reach - p * std::log(std::cos(0.5 * m * c));
    best = std::max(best, 2.0 * kPi * c / needed);
  }
  return best;
}

double points_of(const RatioStep& step, double s0, double reach) {
  double covered = 0.0;
  for (const Range& part : parts_of(step, s0).parts) covered += part.length();
  return covered / spacing_for(step, s0, reach, kInf);
}

TiltedDistribution distribution_on(const RatioStep& step, double s0, double h,
                                   const std::vector<Range>& whole, bool complete) {
  const double m = step.ratio.slope(), log_h = std::log(h);
  DistributionTerms terms;
  for (const Range& part : whole) {
    for (double i = part.low; i <= part.high; ++i) {
      const double z = i * h;
      const RatioStep::Loss at = step.loss_at(z);
      terms.add(0.5 * z * z, log_h - 0.5 * z * z - kLogRootTwoPi, at.log_density + s0 * at.loss,
                at.loss, at.size, -2.0 * m * std::fabs(z) * std::expm1(-std::fabs(at.loss)));
    }
  }
  return distribution_of(terms, complete);
}

TiltedDistribution tilted_distribution(const RatioStep& step, double s0, double reach) {
  const double h = spacing_for(step, s0, reach, kInf);
  const Located found = parts_of(step, s0);
  std::vector<Range> whole;
  double missing = range_of(step, s0).length();
  for (const Range& part : found.parts) {
    whole.push_back({std::ceil(part.low / h), std::floor(part.high / h)});
    missing -= (whole.back().length() + 1.0) * h;
  }
  const bool complete = missing <= 2.0 * h;
  TiltedDistribution distribution = distribution_on(step, s0, h, whole, complete);
  distribution.error_floor += 2.2e-21 + 2e-17 / step.k;
  if (!complete)
    distribution.error_floor += missing * std::exp(found.best - kNeglected - distribution.cumulant);
  return distribution;
}

}  // namespace sfumato::trapezoidal
