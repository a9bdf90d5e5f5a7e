#pragma once

#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"
#include "train/run.hpp"

namespace sfumato::cli {

/// Adds what --measure asks for: curvature, sensitivity to the record, minibatch noise of the final
/// models. Ends early, saying so, when the observer asks to stop.
void add_measures(Document& document, const TrainOptions& options, const TrainInput& input,
                  const TrainResult& result, Observer& observer);

}  // namespace sfumato::cli
