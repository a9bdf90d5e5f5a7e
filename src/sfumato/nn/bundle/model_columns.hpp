#pragma once

#include <cstddef>
#include <cstdint>

#include "sfumato/nn/stage.hpp"

namespace sfumato {

/// From pixels of `columns` numbers, those of (channel, model) with models fastest, to one array per model
/// of pixels of `channels` numbers.
void separate_models(const float* values, std::size_t pixels, std::size_t channels,
                     std::size_t columns, std::size_t models, float* const* out);
void separate_models(const std::int32_t* values, std::size_t pixels, std::size_t channels,
                     std::size_t columns, std::size_t models, std::int32_t* const* out);

/// The way back for one model's slopes: `rows` rows of `positions` pixels, `stride` apart, go to the
/// model's columns, from the slope behind the activation to the one before it, as `output` tells.
struct ModelSlope {
  std::size_t model, models;
  std::size_t rows, positions, channels, columns;
  const float* slope;
  std::size_t stride;
  const float* output;  ///< behind the activation, rows not padded
};
void join_slope(Stage::Activation activation, const ModelSlope& task, float* joined);

}  // namespace sfumato
