#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// An array of bytes in the IDX format of the MNIST family: a magic number (0, 0, 8 for bytes, number
/// of axes), the big-endian length of each axis, the elements in row-major order.
struct IdxArray {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> values;
};

/// Throws   InvalidArgument naming `source` if the magic number is wrong, the elements are not bytes, there
///          are not 1 to 4 axes of at least 1, or the bytes are fewer or more than the shape says.
[[nodiscard]] IdxArray parse_idx(std::string_view bytes, const std::string& source);

/// Images (count x height x width, or count x channels x height x width) with their labels (count).
/// The number of classes is the largest label plus one, but at least 2; pixels are not standardised.
///
/// Throws   InvalidArgument if the shapes do not fit; as parse_idx().
[[nodiscard]] LabelledSet join_idx(IdxArray images, const std::string& images_source,
                                   IdxArray labels, const std::string& labels_source);

}  // namespace sfumato::lab
