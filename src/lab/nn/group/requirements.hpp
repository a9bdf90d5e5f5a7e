#pragma once

#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/training.hpp"
#include "lab/nn/training_data.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {

/// Throws   InvalidArgument as TrialGroup's constructor says: what does not fit together.
void require_trainable(const Network& network, const TrainingData& data,
                       const std::vector<NoisePolicy>& policies, const Training& training,
                       const Where& where);

}  // namespace sfumato::lab
