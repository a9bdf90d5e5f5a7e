// Gradients of a convolution record by record, for clipping: each costs its share of the gradient of the batch, so that they are kept and
// added with their factors instead of being computed twice.
#include <algorithm>

#include "lab/nn/bundle/convolution.hpp"
#include "lab/nn/bundle/row_clips.hpp"

namespace sfumato::lab {

using kernel::padded;

void Convolution::record_gradients(const OutputGradient& output, float* records) {
  terms_.resize(out_pixels_ + 1);
  for (std::size_t r = 0; r < output.rows; ++r) {
    float* record = records + r * record_size();
    const float* row = output.values + r * padded(out_size_);
    const std::int32_t* which =
        output.which == nullptr ? nullptr : output.which + r * padded(out_size_);
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      std::size_t count = 0;
      float bias = 0.0F;
      for (std::size_t p = 0; p < out_pixels_; ++p) {
        const std::size_t i = p * channels_ + channel;
        const std::size_t winner = which == nullptr ? 0 : static_cast<std::size_t>(which[i]);
        terms_[count] = {corners_[p * window_ + winner], row[i]};
        count += row[i] != 0.0F ? 1 : 0;
        bias += row[i];
      }
      kernel::sum_patches(image(r), terms_.data(), count, geometry_.patch,
                          record + channel * patch_size());
      record[channels_ * patch_size() + channel] = bias;
    }
  }
}

double Convolution::squared_norm(const float* record, const float* square_weights) const {
  const kernel::PatchShape& patch = geometry_.patch;
  const float* biases = record + channels_ * patch_size();
  double sum = 0.0;
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    for (std::size_t segment = 0; segment < patch.segments; ++segment) {
      const float* values = record + channel * patch_size() + segment * padded(patch.segment);
      if (square_weights == nullptr) {
        sum += sum_of_squares(values, patch.segment);
        continue;
      }
      const float* weights = square_weights + segment * patch.segment * padded(channels_) + channel;
      for (std::size_t j = 0; j < patch.segment; ++j, weights += padded(channels_)) {
        const auto v = static_cast<double>(values[j]);
        sum += v * v * static_cast<double>(*weights);
      }
    }
  }
  if (square_weights == nullptr) return sum + sum_of_squares(biases, channels_);
  const std::size_t inputs = patch.segments * patch.segment;
  return sum + weighted_squares(biases, square_weights + inputs * padded(channels_), channels_);
}

void Convolution::sum_records(std::size_t images, const float* records, const float* factors,
                              BlockStore& block, std::size_t model) {
  record_sum_.require(record_size());
  float* sum = record_sum_.data();
  std::fill_n(sum, record_size(), 0.0F);
  for (std::size_t r = 0; r < images; ++r) {
    const float factor = factors[r];
    if (factor == 0.0F) continue;
    const float* record = records + r * record_size();
    for (std::size_t i = 0; i < record_size(); ++i) sum[i] += factor * record[i];
  }
  const kernel::PatchShape& patch = geometry_.patch;
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    float* to = block.weight_gradient(model) + channel * block.models + block.lane_of(model);
    for (std::size_t segment = 0; segment < patch.segments; ++segment) {
      const float* from = sum + channel * patch_size() + segment * padded(patch.segment);
      for (std::size_t j = 0; j < patch.segment; ++j, to += block.columns) *to = from[j];
    }
    *to = sum[channels_ * patch_size() + channel];
  }
}

}  // namespace sfumato::lab
