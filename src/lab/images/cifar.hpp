#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace sfumato::lab
