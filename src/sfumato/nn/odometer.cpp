#include "sfumato/nn/odometer.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato {

void Odometer::add(const StepKl& step) {
  if (step.infinite > 0) {
    if (!first_infinite_) first_infinite_ = Infinite{steps_, step.infinite, step.first_infinite};
    ++infinite_steps_;
  }
  nats_ += step.nats;
  ++steps_;
}

Claimed<MonteCarloMean> OdometerMean::mean() const {
  if (runs() == 0) throw InvalidArgument("the mean over no runs", "Add at least one");
  return {moments_.mean(), Claim::estimate, fmt::format("mean path KL of {} runs", runs())};
}

}  // namespace sfumato
