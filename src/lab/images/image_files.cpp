#include "lab/images/image_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::lab {
namespace {

constexpr unsigned kBytes = 0x08;  // the code of unsigned bytes; the others are wider

unsigned byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

[[noreturn]] void refuse(const std::string& source, const std::string& problem,
                         const std::string& remedy = "Copy or fetch the file again") {
  throw InvalidArgument(problem, remedy, Where::in(source));
}

int side_of(std::size_t length, const std::string& source) {
  if (length > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    refuse(source, fmt::format("an image side of {} is too long", length));
  }
  return static_cast<int>(length);
}

}  // namespace

IdxArray parse_idx(std::string_view bytes, const std::string& source) {
  if (bytes.size() < 4) refuse(source, "ends before the magic number of an IDX file");
  if (byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0) {
    refuse(source, "does not begin with the magic number of an IDX file", "Give an IDX file");
  }
  if (byte_at(bytes, 2) != kBytes) {
    refuse(source, fmt::format("holds elements of type 0x{:02x}, not bytes", byte_at(bytes, 2)),
           "Give an IDX file of unsigned bytes");
  }
  const std::size_t axes = byte_at(bytes, 3);
  if (axes < 1 || axes > 4) {
    refuse(source, fmt::format("has {} axes", axes), "Give an IDX file with 1 to 4");
  }
  const std::size_t header = 4 + 4 * axes;
  if (bytes.size() < header) refuse(source, "ends inside the IDX header");
  IdxArray array;
  std::uint64_t size = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8u | byte_at(bytes, 4 + 4 * axis + i);
    array.shape.push_back(static_cast<std::size_t>(length));
    if (length == 0) refuse(source, fmt::format("axis {} has length 0", axis + 1));
    if (size > kLargestFile / length) {
      refuse(source, fmt::format("the shape ({}) is too large", fmt::join(array.shape, ", ")));
    }
    size *= length;
  }
  if (bytes.size() - header != size) {
    refuse(source, fmt::format("holds {} bytes after the header, where the shape ({}) says {}",
                               bytes.size() - header, fmt::join(array.shape, ", "), size));
  }
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  array.values.assign(first + header, first + bytes.size());
  return array;
}

LabelledSet join_idx(IdxArray images, const std::string& images_source, IdxArray labels,
                     const std::string& labels_source) {
  if (images.shape.size() < 3) {
    refuse(images_source, fmt::format("has {} axes", images.shape.size()),
           "Give images as count x height x width");
  }
  if (labels.shape.size() != 1) {
    refuse(labels_source, fmt::format("has {} axes", labels.shape.size()),
           "Give one label per image");
  }
  if (images.shape[0] != labels.shape[0]) {
    refuse(labels_source,
           fmt::format("has {} labels for the {} images of {}", labels.shape[0], images.shape[0],
                       images_source),
           "Give the two files of one set");
  }
  const std::size_t axes = images.shape.size();
  LabelledSet set;
  set.name = images_source;
  set.shape = {axes == 4 ? side_of(images.shape[1], images_source) : 1,
               side_of(images.shape[axes - 2], images_source),
               side_of(images.shape[axes - 1], images_source)};
  set.values = std::move(images.values);
  set.labels = std::move(labels.values);
  set.classes = std::max(2, 1 + *std::max_element(set.labels.begin(), set.labels.end()));
  set.standardisation = pixels_only();
  set.files = {images_source, labels_source};
  return set;
}

void append_cifar(std::string_view bytes, const std::string& source, std::size_t records,
                  std::vector<std::uint8_t>& pixels, std::vector<std::uint8_t>& labels) {
  if (bytes.size() != records * kCifarRecord) {
    throw InvalidArgument(fmt::format("holds {} bytes, where {} records of {} are {}", bytes.size(),
                                      records, kCifarRecord, records * kCifarRecord),
                          "Fetch the file again: sfumato data get cifar10", Where::in(source));
  }
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (std::size_t i = 0; i < records; ++i) {
    if (first[i * kCifarRecord] >= kCifarClasses) {
      throw InvalidArgument(fmt::format("the label {} of record {} is not one of 0 to {}",
                                        first[i * kCifarRecord], i, kCifarClasses - 1),
                            "Fetch the file again: sfumato data get cifar10", Where::in(source));
    }
  }
  pixels.reserve(pixels.size() + records * kCifarPixels);
  labels.reserve(labels.size() + records);
  for (std::size_t i = 0; i < records; ++i, first += kCifarRecord) {
    labels.push_back(first[0]);
    pixels.insert(pixels.end(), first + 1, first + kCifarRecord);
  }
}

}  // namespace sfumato::lab
