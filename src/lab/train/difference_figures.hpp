#pragma once

#include "lab/train/train_run.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Where the record shows in the gradients, along the models of D: the squared differences by layer, and
/// over the pixels of the input where the first weights belong to pixels. Nothing unless the study
/// kept them (train.gradient_differences).
void add_difference_figures(Document& document, const TrainInput& input, const TrainRun& run);

}  // namespace sfumato::lab
