#include "sfumato/nn/record_store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/nn/kernel/elementwise.hpp"

namespace sfumato {

RecordStore::RecordStore(const LabelledSet& set, std::span<const std::uint32_t> records)
    : shape_{set.shape.channels, set.shape.height, set.shape.width}, count_(records.size()) {
  const std::size_t size = shape_.size(), channels = static_cast<std::size_t>(shape_.channels);
  const std::size_t plane = size / channels;
  for (const std::uint32_t record : records) {
    if (record >= set.count()) {
      throw InvalidArgument(
          fmt::format("record {} of `{}`, which has {}", record, set.name, set.count()),
          "Count records from 0");
    }
  }
  const Standardisation& s = set.standardisation;
  scale_.resize(size);
  shift_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t c = i % channels;
    const double mean = s.means.empty() ? 0.0 : s.means[c];
    const double deviation = s.deviations.empty() ? 1.0 : s.deviations[c];
    scale_[i] = static_cast<float>(1.0 / (s.divisor * deviation));
    shift_[i] = static_cast<float>(-mean / deviation);
  }
  const bool pixels = std::holds_alternative<std::vector<std::uint8_t>>(set.values);
  if (pixels) {
    bytes_.resize(count_ * size);
  } else {
    features_.resize(count_ * size);
  }
  std::vector<float> standard(size);
  for (std::size_t r = 0; r < count_; ++r) {
    if (pixels) {
      const std::span<const std::uint8_t> planes = bytes_of(set, records[r]);
      std::uint8_t* to = bytes_.data() + r * size;
      for (std::size_t i = 0; i < size; ++i) to[i % plane * channels + i / plane] = planes[i];
    } else {
      standardised(set, records[r], standard);
      float* to = features_.data() + r * size;
      for (std::size_t i = 0; i < size; ++i) to[i % plane * channels + i / plane] = standard[i];
    }
  }
}

void RecordStore::inputs(std::size_t i, float* values) const {
  const std::size_t size = shape_.size();
  if (features_.empty()) {
    kernel::expand_pixels(bytes_.data() + i * size, scale_.data(), shift_.data(), size, values);
  } else {
    std::copy_n(features_.data() + i * size, size, values);
  }
}

}  // namespace sfumato
