#include "lab/nn/model_record.hpp"

namespace sfumato::lab {

void PathKlSum::add(const StepKl& step, std::uint64_t number) {
  if (step.infinite > 0) {
    if (!first_infinite) first_infinite = Infinite{number, step.infinite, step.first_infinite};
    ++infinite_steps;
  }
  nats += step.nats;
  ++steps;
}

}  // namespace sfumato::lab
