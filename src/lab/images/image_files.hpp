#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// The official binary layout of CIFAR-10: records of 3,073 bytes without header or separator, each a
/// label 0 .. 9 and three planes (red, green, blue) of 32 rows of 32 pixels.
inline constexpr std::size_t kCifarPixels = std::size_t{3} * 32 * 32;
inline constexpr std::size_t kCifarRecord = 1 + kCifarPixels;
inline constexpr std::size_t kCifarBatch = 10'000;  ///< records in each official file
inline constexpr int kCifarClasses = 10;

/// Appends the records of one file to pixels and labels.
///
/// Throws   InvalidArgument naming `source`, before anything is appended, if the bytes are not exactly
///          `records` of them, or naming the record if its label is not 0 .. 9.
void append_cifar(std::string_view bytes, const std::string& source, std::size_t records,
                  std::vector<std::uint8_t>& pixels, std::vector<std::uint8_t>& labels);

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
