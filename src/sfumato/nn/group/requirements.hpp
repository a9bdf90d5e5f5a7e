#pragma once

#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/nn/noise_policy.hpp"
#include "sfumato/nn/training.hpp"
#include "sfumato/nn/training_data.hpp"

namespace sfumato {

/// Throws   InvalidArgument as TrialGroup's constructor says: what does not fit together.
void require_trainable(const Network& network, const TrainingData& data,
                       const std::vector<NoisePolicy>& policies, const Training& training,
                       const Where& where);

}  // namespace sfumato
