#include "sfumato/account/accountant/step.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

[[noreturn]] void refuse(std::string_view what, double value, std::string_view expected) {
  throw InvalidArgument(fmt::format("{} = {} is not {}", what, value, expected),
                        fmt::format("Pass {}", expected));
}

void require_rate(double q) {
  if (!(q > 0.0 && q < 1.0)) refuse("q", q, "a sampling rate in (0, 1)");
}
void require_positive_finite(std::string_view what, double value) {
  if (!(value > 0.0 && std::isfinite(value))) refuse(what, value, "a finite number above 0");
}
void require_count(double k) {
  if (!(k >= 1.0 && k == std::floor(k) && std::isfinite(k))) {
    refuse("k", k, "a whole number of steps, at least 1");
  }
}

}  // namespace

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

double count_of(const StepLoss& step) {
  return std::visit([](const auto& s) { return s.k; }, step);
}

double highest_loss(const StepLoss& step) {
  return std::visit(
      Overloaded{[](const SampledGaussian& s) {
                   return s.direction == StepDirection::add ? -std::log1p(-s.q) : kInf;
                 },
                 [](const GroupGaussian& s) {
                   return s.direction == StepDirection::add ? -s.g * std::log1p(-s.q) : kInf;
                 },
                 [](const TwoSidedGaussian&) { return kInf; },
                 [](const LaplaceStep& s) { return s.eps0; },
                 [](const RandomisedResponse& s) { return s.eps0; }},
      step);
}

StepLoss swapped(const StepLoss& step) {
  StepLoss other = step;
  if (auto* sampled = std::get_if<SampledGaussian>(&other)) {
    sampled->direction = swapped(sampled->direction);
  } else if (auto* group = std::get_if<GroupGaussian>(&other)) {
    group->direction = swapped(group->direction);
  }
  return other;  // the others are symmetric
}

void require_valid(const StepLoss& step) {
  std::visit(Overloaded{[](const SampledGaussian& s) {
                          require_rate(s.q);
                          require_positive_finite("m", s.m);
                        },
                        [](const GroupGaussian& s) {
                          require_rate(s.q);
                          require_positive_finite("m", s.m);
                          if (s.g < 1) refuse("g", s.g, "a number of records, at least 1");
                          if (s.direction == StepDirection::replace) {
                            throw InvalidArgument("a group is removed or added, not replaced",
                                                  "Pass a SampledGaussian with the rate and the "
                                                  "contribution of the whole group");
                          }
                        },
                        [](const TwoSidedGaussian& s) {
                          require_rate(s.q);
                          require_positive_finite("m", s.m);
                        },
                        [](const auto& s) { require_positive_finite("eps0", s.eps0); }},
             step);
  require_count(count_of(step));
}

}  // namespace sfumato
