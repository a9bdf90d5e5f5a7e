#include "lab/nn/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

std::string_view name(RateSchedule schedule) {
  switch (schedule) {
    case RateSchedule::constant: return "constant";
    case RateSchedule::linear: return "linear";
    case RateSchedule::cosine: return "cosine";
  }
  throw InternalError("an unknown schedule of the learning rate");
}

double Training::rate_at(std::uint64_t step) const {
  const double done = static_cast<double>(step) / static_cast<double>(iterations);
  switch (schedule) {
    case RateSchedule::constant: return learning_rate;
    case RateSchedule::linear: return learning_rate * std::max(0.0, 1.0 - done);
    case RateSchedule::cosine:
      return learning_rate * 0.5 * (1.0 + std::cos(std::acos(-1.0) * std::min(1.0, done)));
  }
  throw InternalError("an unknown schedule of the learning rate");
}

}  // namespace sfumato::lab
