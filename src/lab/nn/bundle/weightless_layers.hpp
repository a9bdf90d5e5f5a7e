#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// The averages over the windows of one image of a stage that is nothing but an average pool.
void average_windows(const Stage& stage, const float* in, float* out);

/// From the gradient of one row of a stage without core to that of its input, with zeros behind it up to
/// the padding: the pixel that won its window (`which`, for max pools) gets it, or all pixels share it.
void unpool(const Stage& stage, const float* gradient, const std::int32_t* which, float* before);

/// values <- activation(values); `count` is a multiple of 8.
void activate(Stage::Activation activation, float* values, std::size_t count);

/// From the gradient of the activation's output to that of its input, in place: times the derivative, which
/// follows from `output`; `count` is a multiple of 8.
void activation_backward(Stage::Activation activation, const float* output, float* gradient,
                         std::size_t count);

}  // namespace sfumato::lab
