#include "sfumato/nn/bundle/model_columns.hpp"

#include "sfumato/nn/kernel/pool.hpp"

namespace sfumato {
namespace {

template <class T>
void separate_any(const T* values, std::size_t pixels, std::size_t channels, std::size_t columns,
                  std::size_t models, T* const* out) {
  if (columns == channels * models) {
    kernel::separate(values, pixels * channels, models, out);
    return;
  }
  T* to[8];
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t i = 0; i < models; ++i) to[i] = out[i] + p * channels;
    kernel::separate(values + p * columns, channels, models, to);
  }
}

template <class Before>
void join(const ModelSlope& t, float* joined, const Before& before) {
  for (std::size_t r = 0; r < t.rows; ++r) {
    const float* from = t.slope + r * t.stride;
    const float* value = t.output + r * t.positions * t.channels;
    float* to = joined + r * t.positions * t.columns + t.model;
    for (std::size_t p = 0; p < t.positions; ++p, to += t.columns) {
      for (std::size_t c = 0; c < t.channels; ++c) {
        to[c * t.models] = before(from[p * t.channels + c], value[p * t.channels + c]);
      }
    }
  }
}

}  // namespace

void separate_models(const float* values, std::size_t pixels, std::size_t channels,
                     std::size_t columns, std::size_t models, float* const* out) {
  separate_any(values, pixels, channels, columns, models, out);
}
void separate_models(const std::int32_t* values, std::size_t pixels, std::size_t channels,
                     std::size_t columns, std::size_t models, std::int32_t* const* out) {
  separate_any(values, pixels, channels, columns, models, out);
}

void join_slope(Stage::Activation activation, const ModelSlope& task, float* joined) {
  switch (activation) {
    case Stage::Activation::none: return join(task, joined, [](float d, float) { return d; });
    case Stage::Activation::relu:
      return join(task, joined, [](float d, float value) { return value > 0.0F ? d : 0.0F; });
    case Stage::Activation::tanh:
      return join(task, joined, [](float d, float value) { return d * (1.0F - value * value); });
  }
}

}  // namespace sfumato
