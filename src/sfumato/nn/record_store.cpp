#include "sfumato/nn/record_store.hpp"

#include <fmt/format.h>

#include "sfumato/nn/kernel/elementwise.hpp"

namespace sfumato {
namespace {

/// Floats up to this many bytes are kept: about what a core has of a shared cache.
constexpr std::size_t kKept = std::size_t{8} << 20;

}  // namespace

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
  const bool kept = !pixels || count_ * size * sizeof(float) <= kKept;
  if (kept) floats_.resize(count_ * size + 8);
  if (pixels) bytes_.resize(count_ * size);
  std::vector<float> standard(size);
  for (std::size_t r = 0; r < count_; ++r) {
    const auto place = [&](std::size_t i) { return r * size + i % plane * channels + i / plane; };
    if (pixels) {
      const std::span<const std::uint8_t> planes = bytes_of(set, records[r]);
      for (std::size_t i = 0; i < size; ++i) bytes_[place(i)] = planes[i];
      if (kept) expand(r, floats_.data() + r * size);
    } else {
      standardised(set, records[r], standard);
      for (std::size_t i = 0; i < size; ++i) floats_[place(i)] = standard[i];
    }
  }
  if (kept) bytes_ = {};
}

void RecordStore::expand(std::size_t i, float* values) const {
  const std::size_t size = shape_.size();
  kernel::expand_pixels(bytes_.data() + i * size, scale_.data(), shift_.data(), size, values);
}

const float* RecordStore::inputs(std::size_t i, float* room) const {
  if (!floats_.empty()) return floats_.data() + i * shape_.size();
  expand(i, room);
  return room;
}

}  // namespace sfumato
