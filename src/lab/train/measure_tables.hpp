#pragma once

#include "lab/train/train_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What was measured of the final models, as tables; figures of the noise only in full. Nothing if nobody asked.
void add_measures(Document& document, const TrainAnswer& answer, Detail detail);

}  // namespace sfumato::lab
