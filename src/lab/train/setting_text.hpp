#pragma once

#include <string>

#include "lab/train/train_input.hpp"

namespace sfumato::lab {

/// What is trained, a sentence or two each: the records of D, what D' has instead, the network, the steps.
[[nodiscard]] std::string data_text(const TrainInput& input);
[[nodiscard]] std::string adjacency_text(const TrainInput& input);
[[nodiscard]] std::string network_text(const TrainInput& input);
[[nodiscard]] std::string training_text(const TrainInput& input);

}  // namespace sfumato::lab
