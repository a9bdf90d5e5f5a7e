#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// to[j][i] = from[i][j], i < rows, j < columns, and zeros for i up to the next multiple of 8. Whole
/// vectors of `from` are read: its rows have room for columns up to a multiple of 8.
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride);

/// Two ways to keep the numbers of `models` models (1, 2, 4 or 8): pixels of `columns` numbers, those of
/// (channel, model) with models fastest; or one array per model, pixels `stride` apart.
struct ModelLayout {
  std::size_t pixels, channels, models;
  std::size_t columns;  ///< at least channels models
  std::size_t stride;   ///< at least channels
};

/// apart[m][p stride + c] = joined[p columns + c models + m]. Pixels are moved in their order, each with
/// zeros behind it up to a multiple of 8 channels, where the next one may begin: behind the last there is
/// room for seven numbers to write, and behind `joined` for 56 to read.
void separate(const float* joined, const ModelLayout& layout, float* const* apart);
void separate(const std::int32_t* joined, const ModelLayout& layout, std::int32_t* const* apart);

/// The way back, with zeros in the columns behind the last channel. Room as above: seven numbers behind
/// `apart` to read, 56 behind `joined` to write.
void join(const float* const* apart, const ModelLayout& layout, float* joined);

}  // namespace sfumato::kernel
