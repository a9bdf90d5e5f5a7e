#include "lab/nn/bundle/weightless_layers.hpp"

#include <algorithm>
#include <cmath>

#include "lab/nn/kernel/elementwise.hpp"
#include "lab/nn/kernel/matrix.hpp"

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

void average_windows(const Stage& stage, const float* in, float* out) {
  const auto channels = static_cast<std::size_t>(stage.in.channels);
  const std::size_t size = stage.pool_size, row = static_cast<std::size_t>(stage.in.width);
  const auto width = static_cast<std::size_t>(stage.out.width);
  const float factor = 1.0F / static_cast<float>(size * size);
  for (std::size_t i = 0; i < stage.out.size(); ++i) {
    const std::size_t pixel = i / channels, c = i % channels;
    float sum = 0.0F;
    for (std::size_t j = 0; j < size * size; ++j) {
      const std::size_t y = pixel / width * size + j / size, x = pixel % width * size + j % size;
      sum += in[(y * row + x) * channels + c];
    }
    out[i] = sum * factor;
  }
}

void unpool(const Stage& stage, const float* gradient, const std::int32_t* which, float* before) {
  const auto channels = static_cast<std::size_t>(stage.in.channels);
  const auto out_width = static_cast<std::size_t>(stage.out.width);
  const std::size_t size = stage.pool_size, in_width = static_cast<std::size_t>(stage.in.width);
  const float factor = 1.0F / static_cast<float>(size * size);
  std::fill_n(before, kernel::padded(stage.in.size()), 0.0F);
  if (stage.pool == Stage::Pool::none) {
    std::copy_n(gradient, stage.out.size(), before);
    return;
  }
  for (std::size_t i = 0; i < stage.out.size(); ++i) {
    const std::size_t pixel = i / channels, c = i % channels;
    const auto put = [&](std::size_t j, float value) {
      const std::size_t y = pixel / out_width * size + j / size;
      const std::size_t x = pixel % out_width * size + j % size;
      before[(y * in_width + x) * channels + c] = value;
    };
    if (stage.pool == Stage::Pool::max) {
      put(static_cast<std::size_t>(which[i]), gradient[i]);
    } else {
      for (std::size_t j = 0; j < size * size; ++j) put(j, gradient[i] * factor);
    }
  }
}

}  // namespace sfumato::lab
