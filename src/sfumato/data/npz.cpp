#include "sfumato/data/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

Arrays parse_npz(std::string_view bytes, const std::string& source, std::uint64_t limit) {
  Arrays arrays;
  for (const ZipEntry& entry : parse_zip(bytes, source, limit)) {
    if (entry.name.size() <= kSuffix.size() || !entry.name.ends_with(kSuffix) ||
        !is_utf8(entry.name)) {
      throw InvalidArgument(fmt::format("holds {}, which is not an array", shown(entry.name)),
                            "Give an archive written by numpy.savez", Where::in(source));
    }
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    arrays.emplace(name, parse_npy(entry.bytes, fmt::format("{}[{}]", source, shown(name))));
  }
  if (arrays.empty()) {
    throw InvalidArgument("holds no arrays", "Give an archive written by numpy.savez",
                          Where::in(source));
  }
  return arrays;
}

Arrays read_npz(const std::string& path) { return parse_npz(read_file(path), path); }

void NpzWriter::add_entry(const std::string& name, std::string npy) {
  const std::string file = name + std::string(kSuffix);
  const bool taken = std::any_of(entries_.begin(), entries_.end(),
                                 [&](const ZipEntry& entry) { return entry.name == file; });
  if (name.empty() || taken) {
    throw InvalidArgument(
        fmt::format("the array name {} is {}", shown(name), taken ? "taken" : "empty"),
        "Give every array its own name", Where::here("NpzWriter"));
  }
  entries_.push_back({file, std::move(npy)});
}

void NpzWriter::add(const std::string& name, const Array& array) {
  add_entry(name, npy_bytes(array));
}

void NpzWriter::add(const std::string& name, std::span<const float> values,
                    std::span<const std::size_t> shape) {
  add_entry(name, npy_bytes(values, shape));
}

void NpzWriter::add_text(const std::string& name, std::string_view text) {
  add_entry(name, npy_bytes_of_text(text));
}

std::string NpzWriter::bytes(Compression compression) const {
  return zip_bytes(entries_, compression);
}

void NpzWriter::write(const std::string& path, Compression compression) const {
  write_file(path, bytes(compression));
}

}  // namespace sfumato
