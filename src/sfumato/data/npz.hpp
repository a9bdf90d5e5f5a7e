#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/array.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/zip.hpp"

namespace sfumato {

using Arrays = std::map<std::string, Array>;

/// The extents of arrays by name: none for a number, one for a vector.
using ArrayShapes = std::map<std::string, std::vector<std::uint64_t>>;

/// Throws if an archive with these arrays is not what its reader wants. It is asked before anything but
/// the headers is decompressed, so that a small archive of large arrays costs nothing.
using ShapeCheck = std::function<void(const ArrayShapes&)>;

/// The arrays of an NPZ archive by name, as numpy.savez and numpy.savez_compressed write them.
///
/// Throws   InvalidArgument as ZipArchive and parse_npy(), with the array's name, if an entry is not
///          called NAME.npy, or if there is none; what `check` throws; and as read_file().
[[nodiscard]] Arrays read_npz(const std::string& path, const ShapeCheck& check = {});

/// The same from memory; `source` names it in messages, `limit` bounds the bytes of all arrays.
[[nodiscard]] Arrays parse_npz(std::string_view bytes, const std::string& source,
                               std::uint64_t limit = kLargestFile, const ShapeCheck& check = {});

/// Collects arrays and texts, then writes them as one archive. Equal content gives equal bytes.
class NpzWriter {
 public:
  /// Throws   InvalidArgument if the name is taken or empty, or the array is empty.
  void add(const std::string& name, const Array& array);
  /// Single precision, any number of axes, as npy_bytes().
  void add(const std::string& name, std::span<const float> values,
           std::span<const std::size_t> shape);
  /// A text as a vector of bytes: text_of() gives it back.
  void add_text(const std::string& name, std::string_view text);

  [[nodiscard]] std::string bytes(Compression compression = Compression::deflated) const;
  void write(const std::string& path, Compression compression = Compression::deflated,
             const WriteRules& rules = {}) const;

 private:
  void add_entry(const std::string& name, std::string npy);

  std::vector<ZipEntry> entries_;
};

}  // namespace sfumato
