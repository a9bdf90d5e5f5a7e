#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// Rows of models side by side: lane l of every vector of eight belongs to model l mod `models`.
constexpr std::size_t kLanesPerModelSet = 8;

/// w <- w - learning_rate g + sqrt(variance) z, element by element, with
///
///   variance = gradient_factor max(|g|, floor) + square_factor g^2 + constant + fixed_factor fixed
///
/// the factors being those of the lane's model. `w` and `g` are rows x columns, columns a multiple
/// of 8; column n belongs to model n mod models and to output n / models, whose normal and fixed
/// variance are z[row outputs + output] and fixed[row outputs + output]. Beyond the last output both are
/// read (up to eight further numbers must be there) and the columns get values that mean nothing.
struct NoisyUpdate {
  float* w;
  const float* g;
  std::size_t rows, columns, outputs, models;
  float learning_rate;
  const float* z;      ///< null: no noise
  const float* fixed;  ///< null: none
  float gradient_factor[kLanesPerModelSet], floor[kLanesPerModelSet],
      square_factor[kLanesPerModelSet], constant[kLanesPerModelSet],
      fixed_factor[kLanesPerModelSet];  ///< by lane
};
void noisy_update(const NoisyUpdate& task);

/// The largest |g| of each lane, over rows of `columns` (a multiple of 8) contiguous floats:
/// largest[l] = max(largest[l], |g[8 i + l]|).
void largest_absolute(const float* g, std::size_t count, float largest[kLanesPerModelSet]);

/// For each row: logits <- (softmax(logits) - one_hot(label)) weight, zeros in the padding; and, where
/// `losses` is not null, the cross-entropy -log softmax(logits)[label], not weighted.
struct SoftmaxRows {
  float* logits;
  std::size_t rows, classes, stride;  ///< stride: a multiple of 8, at least `classes`
  const std::uint8_t* labels;
  const float* weights;
  float* losses;
};
void softmax_rows(const SoftmaxRows& task);

/// x[i] = pixels[i] scale[i] + shift[i]
void expand_pixels(const std::uint8_t* pixels, const float* scale, const float* shift,
                   std::size_t count, float* x);

/// to[j][i] = from[i][j], i < rows, j < columns. The padding of `to` up to `to_stride` is not written.
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride);

}  // namespace sfumato::kernel
