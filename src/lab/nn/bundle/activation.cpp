#include "lab/nn/bundle/activation.hpp"

#include <cmath>

#include "lab/nn/kernel/elementwise.hpp"

namespace sfumato::lab {

void activate(Stage::Activation activation, float* values, std::size_t count) {
  switch (activation) {
    case Stage::Activation::none: return;
    case Stage::Activation::relu: return kernel::relu(values, count);
    case Stage::Activation::tanh:
      for (std::size_t i = 0; i < count; ++i) values[i] = std::tanh(values[i]);
      return;
    case Stage::Activation::sigmoid:  // by tanh, which does not overflow
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = 0.5F + 0.5F * std::tanh(0.5F * values[i]);
      }
  }
}

void activation_backward(Stage::Activation activation, const float* output, float* gradient,
                         std::size_t count) {
  switch (activation) {
    case Stage::Activation::none: return;
    case Stage::Activation::relu: return kernel::relu_backward(output, gradient, count);
    case Stage::Activation::tanh:
      for (std::size_t i = 0; i < count; ++i) gradient[i] *= 1.0F - output[i] * output[i];
      return;
    case Stage::Activation::sigmoid:
      for (std::size_t i = 0; i < count; ++i) gradient[i] *= output[i] * (1.0F - output[i]);
  }
}

}  // namespace sfumato::lab
