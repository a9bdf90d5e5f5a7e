#pragma once

#include <cstddef>

#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// values <- activation(values); `count` is a multiple of 8.
void activate(Stage::Activation activation, float* values, std::size_t count);

/// From the gradient of the activation's output to that of its input, in place: times the derivative, which
/// follows from `output`; `count` is a multiple of 8.
void activation_backward(Stage::Activation activation, const float* output, float* gradient,
                         std::size_t count);

}  // namespace sfumato::lab
