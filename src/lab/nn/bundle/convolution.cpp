// Gradients of a convolution record by record, for clipping: each costs its share of the gradient of the batch, so that they are kept and
// added with their factors instead of being computed twice.
#include "lab/nn/bundle/convolution.hpp"

#include <algorithm>

#include "lab/nn/bundle/row_clips.hpp"
#include "lab/nn/kernel/layout.hpp"
#include "lab/nn/kernel/matrix.hpp"

namespace sfumato::lab {

using kernel::padded;

Convolution::Convolution(const Stage& stage)
    : geometry_(stage),
      bordered_(geometry_.bordered.size()),
      channels_(static_cast<std::size_t>(stage.middle.channels)),
      out_pixels_(stage.out.size() / channels_),
      window_(stage.pool == Stage::Pool::max ? stage.pool_size * stage.pool_size : 1),
      out_size_(stage.out.size()),
      in_size_(stage.in.size()),
      input_gradient_(bordered_),
      channel_weights_(channels_ * geometry_.patch.segments * padded(geometry_.patch.segment)),
      patch_(geometry_.patch.segments * padded(geometry_.patch.segment)),
      run_channels_(out_size_),
      run_values_(out_size_),
      winners_(window_ * channels_),
      counts_(window_) {
  const std::size_t size = stage.pool == Stage::Pool::max ? stage.pool_size : 1;
  const auto width = static_cast<std::size_t>(stage.middle.width);
  for (int y = 0; y < stage.out.height; ++y) {
    for (int x = 0; x < stage.out.width; ++x) {
      for (std::size_t i = 0; i < window_; ++i) {
        const std::size_t row = static_cast<std::size_t>(y) * size + i / size;
        const std::size_t column = static_cast<std::size_t>(x) * size + i % size;
        corners_.push_back(geometry_.corners[row * width + column]);
      }
    }
  }
}

void Convolution::make_room(std::size_t images) { images_.require(images * bordered_); }

void Convolution::forward(std::size_t i, const float* input, const BlockStore& block,
                          std::size_t model, float* out) {
  float* kept = image(i);
  geometry_.put_inside(input, kept);
  starts_.clear();
  for (const std::uint32_t corner : geometry_.corners) starts_.push_back(kept + corner);
  kernel::rows_times_matrix({starts_.data(), starts_.size(), geometry_.patch.segments,
                             geometry_.patch.segment, geometry_.patch.stride, block.weights(model),
                             block.columns, block.columns, block.bias(model), out, block.columns});
}

void Convolution::dense_gradient(std::size_t images, const float* output_gradient,
                                 BlockStore& block, std::size_t model) {
  const kernel::PatchShape& patch = geometry_.patch;
  const std::size_t columns = block.columns;
  for (std::size_t segment = 0; segment < patch.segments; ++segment) {
    starts_.clear();
    for (std::size_t i = 0; i < images; ++i) {
      const float* from = image(i) + segment * patch.stride;
      for (const std::uint32_t corner : geometry_.corners) starts_.push_back(from + corner);
    }
    kernel::transpose_times_matrix(
        {starts_.data(), starts_.size(), patch.segment, output_gradient, columns, columns,
         block.weight_gradient(model) + segment * patch.segment * columns, columns});
  }
}

void Convolution::pooled_gradient(const OutputGradient& output, BlockStore& block,
                                  std::size_t model) {
  const kernel::PatchShape& patch = geometry_.patch;
  terms_.resize(output.rows * out_pixels_ + 1);
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    std::size_t count = 0;
    float bias = 0.0F;
    for (std::size_t r = 0; r < output.rows; ++r) {
      const float* values = output.values + r * padded(out_size_) + channel;
      const std::int32_t* which = output.which + r * padded(out_size_) + channel;
      const auto start = static_cast<std::uint32_t>(r * bordered_);
      for (std::size_t p = 0; p < out_pixels_; ++p) {
        const float value = values[p * channels_];
        const auto winner = static_cast<std::size_t>(which[p * channels_]);
        terms_[count] = {start + corners_[p * window_ + winner], value};
        count += value != 0.0F ? 1 : 0;
        bias += value;
      }
    }
    kernel::sum_patches(images_.data(), terms_.data(), count, patch, patch_.data());
    float* to = block.weight_gradient(model) + channel * block.models + block.lane_of(model);
    for (std::size_t segment = 0; segment < patch.segments; ++segment) {
      const float* from = patch_.data() + segment * padded(patch.segment);
      for (std::size_t j = 0; j < patch.segment; ++j, to += block.columns) *to = from[j];
    }
    *to = bias;
  }
}

void Convolution::find_runs(const float* values, const std::int32_t* which) {
  runs_.clear();
  std::uint32_t used = 0;
  for (std::size_t p = 0; p < out_pixels_; ++p) {
    std::fill(counts_.begin(), counts_.end(), 0U);
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      const std::size_t i = p * channels_ + channel;
      const std::size_t w = which != nullptr ? static_cast<std::size_t>(which[i]) : 0;
      winners_[w * channels_ + counts_[w]] = static_cast<std::uint32_t>(channel);
      counts_[w] += values[i] != 0.0F ? 1U : 0U;
    }
    for (std::size_t w = 0; w < window_; ++w) {
      if (counts_[w] == 0) continue;
      runs_.push_back({corners_[p * window_ + w], used, counts_[w]});
      for (std::uint32_t k = 0; k < counts_[w]; ++k, ++used) {
        run_channels_[used] = winners_[w * channels_ + k];
        run_values_[used] = values[p * channels_ + winners_[w * channels_ + k]];
      }
    }
  }
}

void Convolution::input_gradient(const OutputGradient& output, const BlockStore& block,
                                 std::size_t model, float* before) {
  const kernel::PatchShape& patch = geometry_.patch;
  const std::size_t segment_step = padded(patch.segment);
  for (std::size_t segment = 0; segment < patch.segments; ++segment) {
    kernel::transpose(block.weights(model) + segment * patch.segment * block.columns, block.columns,
                      patch.segment, channels_, channel_weights_.data() + segment * segment_step,
                      patch.segments * segment_step);
  }
  for (std::size_t r = 0; r < output.rows; ++r) {
    find_runs(output.values + r * padded(out_size_),
              output.which == nullptr ? nullptr : output.which + r * padded(out_size_));
    std::fill_n(input_gradient_.data(), bordered_, 0.0F);
    kernel::scatter_patches(runs_.data(), runs_.size(), run_channels_.data(), run_values_.data(),
                            channel_weights_.data(), patch, input_gradient_.data());
    float* to = before + r * padded(in_size_);
    geometry_.take_inside(input_gradient_.data(), to);
    std::fill(to + in_size_, to + padded(in_size_), 0.0F);
  }
}

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
