#include "sfumato/data/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npy_header.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

Arrays parse_npz(std::string_view bytes, const std::string& source, std::uint64_t limit,
                 const ShapeCheck& check) {
  const ZipArchive archive(bytes, source, limit);
  std::vector<std::string> names;
  for (const ZipRecord& record : archive.records()) {
    if (record.name.size() <= kSuffix.size() || !record.name.ends_with(kSuffix) ||
        !is_utf8(record.name)) {
      throw InvalidArgument(fmt::format("holds {}, which is not an array", shown(record.name)),
                            "Give an archive written by numpy.savez", Where::in(source));
    }
    names.push_back(record.name.substr(0, record.name.size() - kSuffix.size()));
  }
  if (names.empty()) {
    throw InvalidArgument("holds no arrays", "Give an archive written by numpy.savez",
                          Where::in(source));
  }
  const auto label = [&](std::size_t i) { return fmt::format("{}[{}]", source, shown(names[i])); };
  ArrayShapes shapes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ZipRecord& record = archive.records()[i];
    shapes.emplace(names[i],
                   npy_shape(archive.head(record, kLongestNpyHeader), record.size, label(i)));
  }
  if (check) check(shapes);
  Arrays arrays;
  for (std::size_t i = 0; i < names.size(); ++i) {
    arrays.emplace(names[i], parse_npy(archive.content(archive.records()[i]), label(i)));
  }
  return arrays;
}

Arrays read_npz(const std::string& path, const ShapeCheck& check) {
  return parse_npz(read_file(path), path, kLargestFile, check);
}

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

void NpzWriter::write(const std::string& path, Compression compression,
                      const WriteRules& rules) const {
  write_file(path, bytes(compression), rules);
}

}  // namespace sfumato
