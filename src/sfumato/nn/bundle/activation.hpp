#pragma once

#include <cstddef>

#include "sfumato/nn/stage.hpp"

namespace sfumato {

/// values <- activation(values); `count` is a multiple of 8.
void activate(Stage::Activation activation, float* values, std::size_t count);

/// slope <- slope times the activation's derivative, which its own output tells; `count` is a multiple
/// of 8.
void deactivate(Stage::Activation activation, const float* output, float* slope, std::size_t count);

}  // namespace sfumato
