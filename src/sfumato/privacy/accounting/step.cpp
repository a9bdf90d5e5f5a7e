#include "sfumato/privacy/accounting/step.hpp"

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view name(StepDirection direction) {
  switch (direction) {
    case StepDirection::remove: return "remove";
    case StepDirection::add: return "add";
    case StepDirection::replace: return "replace";
  }
  throw InternalError("a direction without a name");
}

StepDirection swapped(StepDirection direction) {
  switch (direction) {
    case StepDirection::remove: return StepDirection::add;
    case StepDirection::add: return StepDirection::remove;
    case StepDirection::replace: return StepDirection::replace;
  }
  throw InternalError("a direction without an opposite");
}

double log_ratio(const SampledGaussian& step, double z) {
  const double a = step.m * z - 0.5 * step.m * step.m;
  if (a > 30.0) return std::log(step.q) + a + std::log1p((1.0 - step.q) / step.q * std::exp(-a));
  const double t = step.q * std::expm1(a);
  // log1p(t) alone is off by a rounding over 1 - q here.
  if (t < -0.5) return std::log((1.0 - step.q) + step.q * std::exp(a));
  return std::log1p(t);
}

LossAt loss_at(const SampledGaussian& step, double z) {
  const double l = log_ratio(step, z);
  switch (step.direction) {
    case StepDirection::remove: return {l, l};
    case StepDirection::add: return {-l, 0.0};
    case StepDirection::replace: return {l - log_ratio(step, -z), l};
  }
  throw InternalError("a direction without a loss");
}

RatioOffAxis ratio_off_axis(const SampledGaussian& step, double x, double eta) {
  const double a = step.m * x - 0.5 * step.m * step.m;
  const double turn = step.m * eta;
  if (a > 30.0) {
    // q e^a e^{i turn} (1 + ((1 - q)/q) e^-a e^{-i turn})
    const double small = (1.0 - step.q) / step.q * std::exp(-a);
    const double re = 1.0 + small * std::cos(turn), im = -small * std::sin(turn);
    return {std::log(step.q) + a + 0.5 * std::log(re * re + im * im), turn + std::atan2(im, re)};
  }
  const double b = step.q * std::exp(a);
  const double re = (1.0 - step.q) + b * std::cos(turn), im = b * std::sin(turn);
  return {0.5 * std::log(re * re + im * im), std::atan2(im, re)};
}

}  // namespace sfumato
