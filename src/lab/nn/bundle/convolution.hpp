#pragma once

#include <cstdint>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/bundle/block_store.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/kernel/patches.hpp"
#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// The gradient of a convolution's output, before its activation: one row per image. Behind a max pool only
/// the pixels that won their window have one, and `which` says which they were.
struct OutputGradient {
  std::size_t rows;
  const float* values;        ///< rows padded to whole vectors
  const std::int32_t* which;  ///< the same; null without a max pool
};

/// One convolution of a bundle: its inputs, with their border, and the sums over their patches.
class Convolution {
 public:
  explicit Convolution(const Stage& stage);

  void make_room(std::size_t images);

  /// Convolves an image and keeps it, as number `image`: out is (output pixels) x (columns of the block).
  void forward(std::size_t image, const float* input, const BlockStore& block, std::size_t model,
               float* out);

  /// Gradient of the weights from that of every output pixel, (images x output pixels) x columns.
  void dense_gradient(std::size_t images, const float* output_gradient, BlockStore& block,
                      std::size_t model);

  /// Gradient of weights and biases of one model behind a max pool, channel by channel: only the pixels
  /// that won their window count.
  void pooled_gradient(const OutputGradient& output, BlockStore& block, std::size_t model);

  /// The gradient of each image by itself: record_size() numbers per image, its channels one after the other with their patch in segments
  /// padded to whole vectors, then the biases. The padding means nothing.
  [[nodiscard]] std::size_t record_size() const { return channels_ * (patch_size() + 1); }
  void record_gradients(const OutputGradient& output, float* records);
  /// The squared norm of such a gradient; with weights of the squares (rows of padded(channels), biases last) where not null.
  [[nodiscard]] double squared_norm(const float* record, const float* square_weights) const;
  /// The gradient of weights and biases as the sum of such gradients times their factors. Those with a factor of zero are not looked at.
  void sum_records(std::size_t images, const float* records, const float* factors,
                   BlockStore& block, std::size_t model);

  /// Gradient of the input, image by image, in rows padded to whole vectors with zeros.
  void input_gradient(const OutputGradient& output, const BlockStore& block, std::size_t model,
                      float* before);

 private:
  [[nodiscard]] float* image(std::size_t i) { return images_.data() + i * bordered_; }
  [[nodiscard]] std::size_t patch_size() const {
    return geometry_.patch.segments * kernel::padded(geometry_.patch.segment);
  }
  /// Finds the runs of one image: channels with gradient whose patches share a corner.
  void find_runs(const float* values, const std::int32_t* which);

  PatchGeometry geometry_;
  std::size_t bordered_, channels_, out_pixels_, window_;
  std::size_t out_size_, in_size_;
  std::vector<std::uint32_t> corners_;  ///< by (output pixel of the pool, pixel of its window)
  AlignedFloats images_;                ///< inputs with their border
  AlignedFloats input_gradient_;        ///< one image of the gradient of the input
  AlignedFloats channel_weights_;       ///< weights by output channel
  AlignedFloats patch_;                 ///< gradient of one channel's weights
  AlignedFloats record_sum_;
  std::vector<kernel::PatchTerm> terms_;
  std::vector<kernel::PatchRun> runs_;
  std::vector<std::uint32_t> run_channels_;
  std::vector<float> run_values_;
  std::vector<std::uint32_t> winners_, counts_;  ///< channels by pixel of a window
  std::vector<const float*> starts_;             ///< of patches
};

}  // namespace sfumato::lab
