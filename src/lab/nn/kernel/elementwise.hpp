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
///
/// The step is added to w, and then the noise; or, with `noise_first`, the noise to g (in whose units the variance then is, and which it does not depend
/// on), and learning_rate times their sum to w, with the same sign of the noise in w. A private step needs the latter: what comes after the noise is
/// post-processing, whereas a small contribution of a record, rounded to w's last place before it, may come out many times larger.
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
  bool noise_first = false;
};
void noisy_update(const NoisyUpdate& task);

/// The largest |g| of each lane, over rows of `columns` (a multiple of 8) contiguous floats:
/// largest[l] = max(largest[l], |g[8 i + l]|).
void largest_absolute(const float* g, std::size_t count, float largest[kLanesPerModelSet]);

/// x[i] = pixels[i] scale[i] + shift[i]
void expand_pixels(const std::uint8_t* pixels, const float* scale, const float* shift,
                   std::size_t count, float* x);

/// values[i] = max(values[i], 0), and zero where it is not a number; `count` is a multiple of 8.
void relu(float* values, std::size_t count);
/// gradient[i] = output[i] > 0 ? gradient[i] : 0; `count` is a multiple of 8.
void relu_backward(const float* output, float* gradient, std::size_t count);

}  // namespace sfumato::kernel
