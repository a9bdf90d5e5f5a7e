#include "sfumato/nn/odometer.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato {

void Odometer::add(const StepKl& step, std::uint64_t number) {
  if (step.infinite > 0) {
    if (!first_infinite) first_infinite = Infinite{number, step.infinite, step.first_infinite};
    ++infinite_steps;
  }
  nats += step.nats;
  ++steps;
}

Claimed<MonteCarloMean> OdometerMean::mean() const {
  if (runs() == 0) throw InvalidArgument("the mean over no runs", "Add at least one");
  return {moments_.mean(), Claim::estimate, fmt::format("mean path KL of {} runs", runs())};
}

}  // namespace sfumato
