#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/stage.hpp"
#include "sfumato/data/labelled_set.hpp"

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

/// What the first layer with parameters reads of the records of a set.
///
/// Throws   InvalidArgument if another layer than a flatten comes before it.
class FirstLayerRows {
 public:
  explicit FirstLayerRows(const Network& network);

  [[nodiscard]] std::size_t positions() const { return rows_.positions(); }
  [[nodiscard]] std::size_t width() const { return rows_.width(); }
  [[nodiscard]] bool convolution() const { return rows_.convolution(); }
  void require_exact_moments() const { rows_.require_exact_moments(); }

  /// Writes positions() rows of width() numbers, `stride` apart. The set has the shape of the network's input.
  void read(const LabelledSet& set, std::uint32_t record, float* rows, std::size_t stride);

  /// The network on those rows as inputs: the same parameters in the same order. A convolution becomes one of single pixels, whose channels are
  /// the entries of a row.
  [[nodiscard]] Network network() const;
  /// The shape of its input, as sets have it.
  [[nodiscard]] ImageShape shape() const;

 private:
  Network network_;
  LayerRows rows_;
  std::vector<float> planes_, pixels_;
};

/// Moves a record between the order of a set, channel after channel, and that of a network, pixel after pixel.
void planes_to_pixels(const ImageShape& shape, const float* planes, float* pixels);
void pixels_to_planes(const ImageShape& shape, const float* pixels, float* planes);

}  // namespace sfumato::lab
