#include "sfumato/data/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/npy_header.hpp"

namespace sfumato {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY elements are copied as they are");

template <class T>
T element(const char* bytes, bool big_endian) {
  std::array<char, sizeof(T)> copy;
  std::memcpy(copy.data(), bytes, sizeof(T));
  if (big_endian) std::reverse(copy.begin(), copy.end());
  return std::bit_cast<T>(copy);
}

/// Whether the integer survives a journey through double.
template <class T>
bool is_exact(T value, double as_double) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    // The largest 64-bit integers round up to a double that is no longer one.
    constexpr double kEnd = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
    return as_double < kEnd && static_cast<T>(as_double) == value;
  }
  return true;
}

/// Copies all elements to `out` in the order of the file.
template <class T>
void convert(std::string_view data, bool big_endian, double* out, const std::string& source) {
  if constexpr (std::is_same_v<T, double>) {
    if (!big_endian) {
      std::memcpy(out, data.data(), data.size());
      return;
    }
  }
  const std::size_t count = data.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const T value = element<T>(data.data() + i * sizeof(T), big_endian);
    out[i] = static_cast<double>(value);
    if (!is_exact(value, out[i])) {
      throw InvalidArgument(fmt::format("element {} is an integer that no double equals", i),
                            "Use integers up to 2^53, or save as float", Where::in(source));
    }
  }
}

void convert(const NpyHeader& header, std::string_view data, double* out,
             const std::string& source) {
  const bool big = header.big_endian;
  switch (header.kind) {
    case 'f':
      return header.width == 8 ? convert<double>(data, big, out, source)
                               : convert<float>(data, big, out, source);
    case 'i':
      switch (header.width) {
        case 1: return convert<std::int8_t>(data, big, out, source);
        case 2: return convert<std::int16_t>(data, big, out, source);
        case 4: return convert<std::int32_t>(data, big, out, source);
        default: return convert<std::int64_t>(data, big, out, source);
      }
    default:  // 'u', and 'b' as bytes that are 0 or 1
      switch (header.width) {
        case 1: return convert<std::uint8_t>(data, big, out, source);
        case 2: return convert<std::uint16_t>(data, big, out, source);
        case 4: return convert<std::uint32_t>(data, big, out, source);
        default: return convert<std::uint64_t>(data, big, out, source);
      }
  }
}

/// Elements of the shape, or the error that names it. A product that overflows is larger than any file.
std::uint64_t element_count(const NpyHeader& header, const std::string& source) {
  const std::string shape = fmt::format("({})", fmt::join(header.shape, ", "));
  if (header.shape.size() > 2) {
    throw InvalidArgument(fmt::format("has {} axes, shape {}", header.shape.size(), shape),
                          "Give a number, a vector or a matrix", Where::in(source));
  }
  std::uint64_t count = 1;
  for (const std::uint64_t extent : header.shape) {
    if (extent == 0) {
      throw InvalidArgument(fmt::format("has no elements, shape {}", shape),
                            "Give at least one number", Where::in(source));
    }
    if (extent > std::numeric_limits<std::int64_t>::max() / header.width / count) {
      throw InvalidArgument(fmt::format("claims a shape {} larger than any memory", shape),
                            "The header is damaged: write the file again", Where::in(source));
    }
    count *= extent;
  }
  return count;
}

/// Refuses an array whose `size`, header included, does not fit its shape: before anything is allocated.
void require_size(const NpyHeader& header, std::uint64_t size, const std::string& source) {
  const std::uint64_t expected = element_count(header, source) * header.width;
  const std::uint64_t data = size - std::min<std::uint64_t>(size, header.data_offset);
  if (data == expected) return;
  throw InvalidArgument(fmt::format("{}: its shape ({}) takes {} bytes of data, the file has {}",
                                    data < expected ? "is truncated" : "is too long",
                                    fmt::join(header.shape, ", "), expected, data),
                        "Copy or write the file again", Where::in(source));
}

/// The elements, in the order of the file, of an array whose size fits its shape.
std::string_view elements_of(const NpyHeader& header, std::string_view bytes,
                             const std::string& source) {
  require_size(header, bytes.size(), source);
  return bytes.substr(header.data_offset);
}

}  // namespace

Array parse_npy(std::string_view bytes, const std::string& source) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const std::string_view data = elements_of(header, bytes, source);
  Array array;
  array.rank = static_cast<int>(header.shape.size());
  const auto rows = array.rank > 0 ? static_cast<Eigen::Index>(header.shape[0]) : 1;
  const auto cols = array.rank > 1 ? static_cast<Eigen::Index>(header.shape[1]) : 1;
  if (header.fortran_order || cols == 1) {
    array.values.resize(rows, cols);
    convert(header, data, array.values.data(), source);
  } else {
    Eigen::MatrixXd transposed(cols, rows);
    convert(header, data, transposed.data(), source);
    array.values = transposed.transpose();
  }
  return array;
}

std::vector<std::uint64_t> npy_shape(std::string_view head, std::uint64_t size,
                                     const std::string& source) {
  const NpyHeader header = parse_npy_header(head, source);
  require_size(header, size, source);
  return header.shape;
}

NpyRows parse_npy_rows(std::string_view bytes, const std::string& source) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const std::string_view data = elements_of(header, bytes, source);
  const bool matrix = header.shape.size() == 2;
  NpyRows result{nullptr, {}, 1, 1};
  if (!header.shape.empty()) result.cols = static_cast<Eigen::Index>(header.shape.back());
  if (matrix) result.rows = static_cast<Eigen::Index>(header.shape[0]);
  const bool by_columns = matrix && header.fortran_order && result.rows > 1 && result.cols > 1;
  const bool native = header.kind == 'f' && header.width == 8 && !header.big_endian;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data.data()) % alignof(double) == 0;
  if (native && aligned && !by_columns) {
    result.in_place = reinterpret_cast<const double*>(data.data());
    return result;
  }
  result.converted.resize(static_cast<std::size_t>(result.rows * result.cols));
  if (!by_columns) {
    convert(header, data, result.converted.data(), source);
    return result;
  }
  const auto rows = static_cast<std::size_t>(result.rows);
  const auto cols = static_cast<std::size_t>(result.cols);
  std::vector<double> column(rows);
  for (std::size_t j = 0; j < cols; ++j) {
    const std::size_t bytes_of_column = rows * header.width;
    convert(header, data.substr(j * bytes_of_column, bytes_of_column), column.data(), source);
    for (std::size_t k = 0; k < rows; ++k) result.converted[k * cols + j] = column[k];
  }
  return result;
}

Array read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::string npy_bytes(const Array& array) {
  if (array.values.size() == 0) {
    throw InvalidArgument("an array without elements cannot be written",
                          "Give at least one number");
  }
  // Eigen keeps columns together, which is Fortran order; NumPy writes vectors as C order.
  std::string bytes = npy_header_bytes("<f8", array.rank == 2, shape_text(array));
  const std::size_t size = static_cast<std::size_t>(array.values.size()) * sizeof(double);
  const std::size_t header = bytes.size();
  bytes.resize(header + size);
  std::memcpy(bytes.data() + header, array.values.data(), size);
  return bytes;
}

std::string npy_bytes(std::span<const float> values, std::span<const std::size_t> shape) {
  std::size_t count = 1;
  std::string text = "(";
  for (const std::size_t extent : shape) {
    count *= extent;
    text += fmt::format("{}, ", extent);
  }
  if (values.empty() || count != values.size()) {
    throw InvalidArgument(fmt::format("{} numbers for an array of {}", values.size(), count),
                          "Give a shape that holds them");
  }
  std::string bytes = npy_header_bytes("<f4", false, text + ")");
  const std::size_t header = bytes.size();
  bytes.resize(header + values.size_bytes());
  std::memcpy(bytes.data() + header, values.data(), values.size_bytes());
  return bytes;
}

std::string npy_bytes_of_text(std::string_view text) {
  if (text.empty()) throw InvalidArgument("an empty text cannot be written", "Give some text");
  return npy_header_bytes("|u1", false, fmt::format("({},)", text.size())).append(text);
}

std::string text_of(const Array& array, const std::string& source) {
  std::string text;
  text.reserve(static_cast<std::size_t>(array.values.size()));
  for (Eigen::Index i = 0; i < array.values.size(); ++i) {
    const double value = array.values.data()[i];
    if (!(value >= 0.0 && value <= 255.0 && value == std::floor(value))) {
      throw InvalidArgument(fmt::format("element {} = {} is not a byte of a text", i, value),
                            "Store the text as uint8", Where::in(source));
    }
    text += static_cast<char>(static_cast<unsigned char>(value));
  }
  return text;
}

void write_npy(const std::string& path, const Array& array, const WriteRules& rules) {
  write_file(path, npy_bytes(array), rules);
}

}  // namespace sfumato
