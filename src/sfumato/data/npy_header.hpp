#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

/// The dictionary at the start of an NPY file.
struct NpyHeader {
  bool big_endian = false;
  char kind = 'f';        ///< 'f', 'i', 'u' or 'b'
  std::size_t width = 8;  ///< bytes per element
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;  ///< where the elements begin
};

/// A header as long as NumPy reads without being told to trust the file, and what comes before it.
inline constexpr std::size_t kLongestNpyHeader = 12 + 10'000;

/// Throws   InvalidArgument if `bytes` do not start with a header of versions 1 to 3, it is longer than
///          kLongestNpyHeader or its elements are not plain numbers of a supported kind.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, const std::string& source);

/// A header of version 1, padded to a multiple of 64 bytes. `shape` as Python writes it.
[[nodiscard]] std::string npy_header_bytes(std::string_view descr, bool fortran_order,
                                           std::string_view shape);

}  // namespace sfumato
