#pragma once

#include <string>

#include "sfumato/report/document.hpp"
#include "train/run.hpp"

namespace sfumato::cli {

/// What is trained: data, adjacency, network, steps, noise.
void add_setting(Document& document, const TrainInput& input);
/// Losses, accuracies, odometer and speed of a finished run, and what they do not say.
void add_results(Document& document, const TrainInput& input, const TrainResult& result);
/// The keys of a study file.
void add_keys(Document& document);

}  // namespace sfumato::cli
