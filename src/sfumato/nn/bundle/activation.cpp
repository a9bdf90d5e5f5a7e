#include "sfumato/nn/bundle/activation.hpp"

#include <cmath>

#include "sfumato/nn/kernel/elementwise.hpp"

namespace sfumato {

void activate(Stage::Activation activation, float* values, std::size_t count) {
  switch (activation) {
    case Stage::Activation::none: return;
    case Stage::Activation::relu: return kernel::relu(values, count);
    case Stage::Activation::tanh:
      for (std::size_t i = 0; i < count; ++i) values[i] = std::tanh(values[i]);
  }
}

void activation_backward(Stage::Activation activation, const float* output, float* gradient,
                         std::size_t count) {
  switch (activation) {
    case Stage::Activation::none: return;
    case Stage::Activation::relu: return kernel::relu_backward(output, gradient, count);
    case Stage::Activation::tanh:
      for (std::size_t i = 0; i < count; ++i) gradient[i] *= 1.0F - output[i] * output[i];
  }
}

}  // namespace sfumato
