#pragma once

#include "lab/train/train_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// In full: the setting, losses, accuracies, path KL, speed, measures and what they do not say. In brief: the
/// models of D, a row for each policy.
[[nodiscard]] Document document_of(const TrainAnswer& answer, Detail detail);

}  // namespace sfumato::lab
