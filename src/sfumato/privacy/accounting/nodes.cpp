#include "sfumato/privacy/accounting/nodes.hpp"

#include <algorithm>
#include <limits>

namespace sfumato::nodes {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTail = 9.5;  // standard deviations of what is tilted: 1.1e-21 is beyond

/// The log of a term at z, up to a constant: of what is summed, and of 1, from which it is subtracted.
double log_term(const SampledGaussian& step, double s0, double z) {
  const LossAt at = loss_at(step, z);
  return -0.5 * z * z + std::max(at.log_density + s0 * at.loss, 0.0);
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

Range located(const SampledGaussian& step, double s0, Range range) {
  if (range.high - range.low <= 60.0) return range;
  const bool wide = step.direction == StepDirection::remove;
  const double spacing = 0.4 / (wide ? 1.0 : std::max(1.0, 0.25 * step.m));
  const double count = std::ceil((range.high - range.low) / spacing);
  double largest = -std::numeric_limits<double>::infinity();
  for (double i = 0.0; i <= count; ++i) {
    largest = std::max(largest, log_term(step, s0, range.low + i * spacing));
  }
  Range part{range.high, range.low};
  for (double i = 0.0; i <= count; ++i) {
    const double z = range.low + i * spacing;
    if (log_term(step, s0, z) < largest - kNeglected) continue;
    part.low = std::min(part.low, z - spacing);
    part.high = std::max(part.high, z + spacing);
  }
  return {std::max(part.low, range.low), std::min(part.high, range.high)};
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

}  // namespace sfumato::nodes
