#include "sfumato/privacy/accounting/nodes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sfumato::nodes {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTail = 9.5;  // standard deviations of what is tilted: 1.1e-21 is beyond

/// The log of a term at z, up to a constant: of what is summed, and of 1, from which it is subtracted.
double log_term(const SampledGaussian& step, double s0, double z) {
  const LossAt at = loss_at(step, z);
  return -0.5 * z * z + std::max(at.log_density + s0 * at.loss, 0.0);
}

/// At least every log_term on [low, high]: log r is increasing.
double most_on(const SampledGaussian& step, double s0, Range range) {
  const auto power = [&](double p, double from, double to) {
    return p == 0.0 ? 0.0 : p * log_ratio(step, p > 0.0 ? to : from);
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

}  // namespace

Range range_of(const SampledGaussian& step, double s0) {
  const double up = std::max(s0, 0.0), down = std::max(-s0, 0.0), m = step.m;
  switch (step.direction) {
    case StepDirection::remove: return {-kTail, kTail + m * (1.0 + s0)};
    case StepDirection::add: return {-kTail - m * up, kTail + m * down};
    case StepDirection::replace: return {-kTail - m * down, kTail + m * (1.0 + s0 + up)};
  }
  return {-kTail, kTail};
}

std::vector<Range> located(const SampledGaussian& step, double s0, Range range) {
  if (range.high - range.low <= 40.0) return {range};
  // Widths are halved until they are small; what is best so far tells which can be left out.
  constexpr double fine = 0.5;
  double best = std::max(log_term(step, s0, 0.0), log_term(step, s0, range.high - 9.5));
  std::vector<Range> open = {range}, kept;
  while (!open.empty()) {
    std::vector<Range> next;
    for (const Range& part : open) {
      const double middle = 0.5 * (part.low + part.high);
      best = std::max(best, log_term(step, s0, middle));
    }
    for (const Range& part : open) {
      if (most_on(step, s0, part) < best - kNeglected) continue;
      if (part.high - part.low <= fine) {
        kept.push_back(part);
        continue;
      }
      const double middle = 0.5 * (part.low + part.high);
      next.push_back({part.low, middle});
      next.push_back({middle, part.high});
    }
    open = std::move(next);
  }
  std::sort(kept.begin(), kept.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  std::vector<Range> joined;
  for (const Range& part : kept) {
    if (!joined.empty() && part.low <= joined.back().high + fine) {
      joined.back().high = part.high;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

double turns_of(const SampledGaussian& step) {
  return step.direction == StepDirection::replace ? 2.0 : 1.0;
}
double power_of(const SampledGaussian& step, double s0) {
  return step.direction == StepDirection::remove ? 0.0 : std::max(s0, 0.0);
}

double spacing_for(const SampledGaussian& step, double s0, double reach, double width) {
  const double m = step.m, g = turns_of(step), p = power_of(step, s0);
  double best = 0.0;
  for (int i = 0; i < 19; ++i) {
    const double c = std::min(0.05 * (i + 1), 0.95) * kPi / m;
    const double needed = 41.0 + std::log(step.k) + 0.5 * c * c * (1.0 + 1.0 / (width * width)) +
                          g * m * c * reach - p * std::log(std::cos(0.5 * m * c));
    best = std::max(best, 2.0 * kPi * c / needed);
  }
  return best;
}

double count_for(const SampledGaussian& step, double s0, double reach) {
  double covered = 0.0;
  for (const Range& part : located(step, s0, range_of(step, s0))) covered += part.high - part.low;
  return covered / spacing_for(step, s0, reach, std::numeric_limits<double>::infinity());
}

}  // namespace sfumato::nodes
