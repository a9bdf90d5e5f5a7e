#include "lab/images/cifar.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

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
