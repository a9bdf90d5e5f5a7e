#pragma once

#include <cstdint>

#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// The averages over the windows of one image of a stage that is nothing but an average pool.
void average_windows(const Stage& stage, const float* in, float* out);

/// From the gradient of one row of a stage without core to that of its input, with zeros behind it up to
/// the padding: the pixel that won its window (`which`, for max pools) gets it, or all pixels share it.
void unpool(const Stage& stage, const float* gradient, const std::int32_t* which, float* before);

}  // namespace sfumato::lab
