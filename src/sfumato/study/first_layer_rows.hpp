#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/data/labelled_set.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/nn/stage.hpp"

namespace sfumato {

/// What the first layer with parameters reads of a record: one row, the whole input, if it is linear; if it is a convolution, a row for each
/// position of the kernel, in the order of the output's pixels, with zeros where the padding is. Entries are in the order of the weights.
///
/// Throws   InvalidArgument if another layer than a flatten comes before it.
class FirstLayerRows {
 public:
  explicit FirstLayerRows(const Network& network);

  [[nodiscard]] std::size_t positions() const { return patches_ ? patches_->corners.size() : 1; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool convolution() const { return patches_.has_value(); }

  /// Writes positions() rows of width() numbers, `stride` apart. The set has the shape of the network's input.
  void read(const LabelledSet& set, std::uint32_t record, float* rows, std::size_t stride);

  /// The network on those rows as inputs: the same parameters in the same order. A convolution becomes one of single pixels, whose channels are
  /// the entries of a row.
  [[nodiscard]] Network network() const;
  /// The shape of its input, as sets have it.
  [[nodiscard]] ImageShape shape() const;

 private:
  Network network_;
  std::size_t width_;
  std::optional<PatchGeometry> patches_;
  std::vector<float> planes_, pixels_, bordered_;
};

/// Moves a record between the order of a set, channel after channel, and that of a network, pixel after pixel.
void planes_to_pixels(const ImageShape& shape, const float* planes, float* pixels);
void pixels_to_planes(const ImageShape& shape, const float* pixels, float* planes);

}  // namespace sfumato
