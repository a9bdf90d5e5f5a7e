#include "sfumato/answers/train/question.hpp"

#include <algorithm>

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view name(TrainMeasure measure) {
  switch (measure) {
    case TrainMeasure::hessian: return "hessian";
    case TrainMeasure::flatness: return "flatness";
    case TrainMeasure::covariance: return "covariance";
    case TrainMeasure::noise: return "noise";
  }
  throw InternalError("a measure without a name");
}

bool TrainQuestion::wants(TrainMeasure measure) const {
  return std::find(measures.begin(), measures.end(), measure) != measures.end();
}

}  // namespace sfumato
