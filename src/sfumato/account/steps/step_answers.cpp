#include "sfumato/account/steps/step_answers.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato {

LossDistribution loss_distribution_of(const StepLoss& step) {
  return std::visit(
      []<class Step>(const Step& s) -> LossDistribution {
        if constexpr (HasMoments<Step>) {
          throw InvalidArgument("random allocation has no second method: its loss has no lattice",
                                "Leave `check` and `method` out", Where::key("check"));
        } else {
          return s.loss_distribution();
        }
      },
      step);
}
namespace {

[[noreturn]] void refuse(std::string_view what, double value, std::string_view expected) {
  throw InvalidArgument(fmt::format("{} = {} is not {}", what, value, expected),
                        fmt::format("Pass {}", expected));
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

StepDirection exchanged(StepDirection direction) {
  switch (direction) {
    case StepDirection::remove: return StepDirection::add;
    case StepDirection::add: return StepDirection::remove;
    case StepDirection::replace: return StepDirection::replace;
  }
  throw InternalError("a direction without an opposite");
}

void require_rate(double q) {
  if (!(q > 0.0 && q < 1.0)) refuse("q", q, "a sampling rate in (0, 1)");
}

void require_positive_finite(std::string_view name, double value) {
  if (!(value > 0.0 && std::isfinite(value))) refuse(name, value, "a finite number above 0");
}

void require_count(double k) {
  if (!(k >= 1.0 && k == std::floor(k) && std::isfinite(k))) {
    refuse("k", k, "a whole number of steps, at least 1");
  }
}

}  // namespace sfumato
