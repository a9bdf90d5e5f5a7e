#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// What a layer with parameters reads of its input: one row, all of it, if it is linear; if it is a convolution, a row for each position of
/// the kernel, in the order of the output's pixels, with zeros where the padding is. Entries are in the order of the weights.
class LayerRows {
 public:
  LayerRows(const Network& network, std::size_t block);

  [[nodiscard]] std::size_t positions() const { return patches_ ? patches_->corners.size() : 1; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool convolution() const { return patches_.has_value(); }
  /// Numbers of an input.
  [[nodiscard]] std::size_t inputs() const { return inputs_; }

  /// Throws   InvalidArgument for convolutions, whose second moments have no exact sums.
  void require_exact_moments() const;

  /// Writes positions() rows of width() numbers, `stride` apart, of an input that is stored pixel by pixel.
  void read(const float* pixels, float* rows, std::size_t stride);

 private:
  std::size_t width_, inputs_;
  std::optional<PatchGeometry> patches_;
  std::vector<float> bordered_;
};

}  // namespace sfumato::lab
