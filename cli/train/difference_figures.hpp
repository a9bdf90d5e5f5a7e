#pragma once

#include "sfumato/report/document.hpp"
#include "train/run.hpp"

namespace sfumato::cli {

/// Where the record shows in the gradients, along the models of D: the squared differences by layer, and
/// over the pixels of the input where the first weights belong to pixels. Nothing unless the study
/// kept them (train.gradient_differences).
void add_difference_figures(Document& document, const TrainInput& input, const TrainResult& result);

}  // namespace sfumato::cli
