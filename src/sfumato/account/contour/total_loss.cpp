#include "sfumato/account/contour/total_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {

TotalLoss exchanged(const TotalLoss& loss) {
  TotalLoss other;
  other.steps.reserve(loss.steps.size());
  for (const StepLoss& step : loss.steps) other.steps.push_back(exchanged(step));
  other.mu_squared = loss.mu_squared;
  // Where neither output discloses, their densities are those of the rest times both probabilities to survive: log P/Q is
  // log_survival(P) - log_survival(Q) plus the rest.
  other.log_survival = std::min(0.0, loss.log_survival - loss.shift);
  other.shift = -loss.shift;
  other.observer = loss.observer;
  return other;
}

void require_going_on(const Observer* observer) {
  if (observer != nullptr && observer->stop_requested()) throw Stopped{};
}

double highest_loss(const TotalLoss& loss) {
  if (loss.mu_squared > 0.0) return std::numeric_limits<double>::infinity();
  double sum = loss.shift;
  for (const StepLoss& step : loss.steps) sum += count_of(step) * highest_loss(step);
  return sum;
}

void add_noiseless(TotalLoss& loss, double q, double k, StepDirection direction) {
  if (!(q > 0.0 && q <= 1.0)) {
    throw InvalidArgument(fmt::format("q = {} is not in (0, 1]", q), "Pass a sampling rate");
  }
  const double log_never = k * std::log1p(-q);  // -inf for q = 1
  if (direction == StepDirection::add && q < 1.0) {
    loss.shift -= log_never;
    return;
  }
  loss.log_survival += log_never;
  if (direction == StepDirection::remove && q < 1.0) loss.shift += log_never;
}

void add_failures(TotalLoss& loss, double delta0, double k) {
  if (!(delta0 >= 0.0 && delta0 <= 1.0)) {
    throw InvalidArgument(fmt::format("delta0 = {} is not in [0, 1]", delta0),
                          "Pass a probability");
  }
  if (delta0 > 0.0) loss.log_survival += k * std::log1p(-delta0);
}

void require_valid(const TotalLoss& loss) {
  for (const StepLoss& step : loss.steps) require_valid(step);
  const auto refuse = [](const char* what, double value, const char* expected) {
    throw InvalidArgument(fmt::format("{} = {} is not {}", what, value, expected),
                          fmt::format("Pass {}", expected));
  };
  if (!(loss.mu_squared >= 0.0 && std::isfinite(loss.mu_squared))) {
    refuse("mu_squared", loss.mu_squared, "a finite number >= 0");
  }
  if (!(loss.log_survival <= 0.0)) {
    refuse("log_survival", loss.log_survival, "the logarithm of a probability");
  }
  if (!std::isfinite(loss.shift)) refuse("shift", loss.shift, "a finite number");
}

}  // namespace sfumato
