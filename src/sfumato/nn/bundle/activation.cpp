#include "sfumato/nn/bundle/activation.hpp"

#include <cmath>

namespace sfumato {

void activate(Stage::Activation activation, float* values, std::size_t count) {
  if (activation == Stage::Activation::relu) {
    for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > 0.0F ? values[i] : 0.0F;
  } else if (activation == Stage::Activation::tanh) {
    for (std::size_t i = 0; i < count; ++i) values[i] = std::tanh(values[i]);
  }
}

void deactivate(Stage::Activation activation, const float* output, float* slope,
                std::size_t count) {
  if (activation == Stage::Activation::relu) {
    for (std::size_t i = 0; i < count; ++i) slope[i] = output[i] > 0.0F ? slope[i] : 0.0F;
  } else if (activation == Stage::Activation::tanh) {
    for (std::size_t i = 0; i < count; ++i) slope[i] *= 1.0F - output[i] * output[i];
  }
}

}  // namespace sfumato
