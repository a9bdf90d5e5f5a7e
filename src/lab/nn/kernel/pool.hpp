#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// The largest of `size` x `size` pixels, column by column, and which of them it was (the first of equals,
/// counted row by row). Pixels are `columns` numbers each (a multiple of 8 or, with up to seven numbers
/// read and written behind the last pixel, any other), rows of pixels `width` pixels long; the
/// windows do not overlap.
struct MaxPoolTask {
  const float* in;
  std::size_t width, columns, size;
  std::size_t out_height, out_width;
  float* out;           ///< out_height x out_width x columns
  std::int32_t* which;  ///< the same
};
void max_pool(const MaxPoolTask& task);

}  // namespace sfumato::kernel
