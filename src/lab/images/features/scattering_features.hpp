#pragma once

#include <cstddef>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// The shape of the features of such images: 81 pooled maps of each channel.
/// Throws   InvalidArgument for what is no image of 8 x 8 or more, or pooled beyond one pixel.
[[nodiscard]] ImageShape scattering_shape(const ImageShape& images, std::size_t pooling);

/// Scattering features of every record, record by record: see with_features().
[[nodiscard]] std::vector<float> scattering_features(const LabelledSet& set, std::size_t pooling);

}  // namespace sfumato::lab
