#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/array.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato {

/// NumPy's array file, format versions 1 to 3, C or Fortran order, either byte order, elements f8, f4,
/// signed or unsigned integers of 1 to 8 bytes, or b1; with 0, 1 or 2 axes and at least one element.
/// NaN and infinities pass: require_all_finite() is the check for them.
///
/// Throws   InvalidArgument if the file is not of this form (pickled objects and structures are never
///          read), is truncated or too long for its shape, or holds an integer that no double equals;
///          and as read_file().
[[nodiscard]] Array read_npy(const std::string& path);

/// The same from memory; `source` names it in messages.
[[nodiscard]] Array parse_npy(std::string_view bytes, const std::string& source);

/// The shape of an array of `size` bytes that begins with `head`.
/// Throws   InvalidArgument as parse_npy() for what its header says.
[[nodiscard]] std::vector<std::uint64_t> npy_shape(std::string_view head, std::uint64_t size,
                                                   const std::string& source);

/// The same numbers row by row, held once: in place where `bytes` are native doubles in C order, converted
/// otherwise. A vector is one row.
struct NpyRows {
  const double* in_place;  ///< into `bytes`, or nullptr
  std::vector<double> converted;
  Eigen::Index rows;
  Eigen::Index cols;
};
[[nodiscard]] NpyRows parse_npy_rows(std::string_view bytes, const std::string& source);

/// The array as a file of format version 1, elements <f8.
/// Throws   InvalidArgument if it has no elements.
[[nodiscard]] std::string npy_bytes(const Array& array);

/// Elements <f4 in C order, any number of axes: (outputs, inputs, height, width).
/// Throws   InvalidArgument if the shape has no or another number of elements.
[[nodiscard]] std::string npy_bytes(std::span<const float> values,
                                    std::span<const std::size_t> shape);

/// A text as a vector of its bytes (|u1), the form in which archives of arrays can carry one.
/// Throws   InvalidArgument if it is empty.
[[nodiscard]] std::string npy_bytes_of_text(std::string_view text);

/// The text back from such a vector; `source` names it in messages.
/// Throws   InvalidArgument if an element is not a byte.
[[nodiscard]] std::string text_of(const Array& array, const std::string& source);

void write_npy(const std::string& path, const Array& array, const WriteRules& rules = {});

}  // namespace sfumato
