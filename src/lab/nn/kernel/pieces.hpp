#pragma once

#include <cstddef>

namespace sfumato::kernel {

/// Calls piece(size, first) for pieces of at most `most` that add up to `whole` and are as equal as
/// can be, so that no size just above a multiple of the tile falls off a cliff.
template <class Piece>
inline void for_each_piece(std::size_t whole, std::size_t most, const Piece& piece) {
  const std::size_t pieces = (whole + most - 1) / most;
  std::size_t done = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t size = (whole - done + pieces - i - 1) / (pieces - i);
    piece(size, done);
    done += size;
  }
}

}  // namespace sfumato::kernel
