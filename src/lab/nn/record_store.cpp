#include "lab/nn/record_store.hpp"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>

#include "lab/nn/bundle/row_clips.hpp"
#include "lab/nn/kernel/elementwise.hpp"

namespace sfumato::lab {
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
    // One multiplication and one addition make a pixel a standardised float: bytes are expanded anew in every batch.
    scale_[i] = static_cast<float>(1.0 / (s.divisor * deviation));
    shift_[i] = static_cast<float>(-mean / deviation);
  }
  const bool pixels = std::holds_alternative<std::vector<std::uint8_t>>(set.values);
  // Small sets are expanded once. Larger ones stay bytes: a quarter of the memory to read, which is what a step waits for.
  const bool kept = !pixels || count_ * size * sizeof(float) <= kKept;
  if (kept) floats_.resize(count_ * size + 8);
  if (pixels) bytes_.resize(count_ * size);
  std::vector<float> standard(size);
  for (std::size_t r = 0; r < count_; ++r) {
    // Channels of a pixel stand side by side: convolutions read them as one run.
    const auto place = [&](std::size_t i) { return r * size + i % plane * channels + i / plane; };
    if (pixels) {
      const std::span<const std::uint8_t> planes = bytes_of(set, records[r]);
      for (std::size_t i = 0; i < size; ++i) bytes_[place(i)] = planes[i];
      if (kept) expand(r, shift_, floats_.data() + r * size);
    } else {
      standardised(set, records[r], standard);
      for (std::size_t i = 0; i < size; ++i) floats_[place(i)] = standard[i];
    }
  }
  find_norms();
  if (!pixels) return;
  find_positions();
  // Rows that are mostly zero pixels are multiplied without them; what the shift adds to zeros is one product per layer.
  if (kept && sparse()) {
    unshifted_.resize(count_ * size + 8);
    for (std::size_t r = 0; r < count_; ++r) expand(r, no_shift_, unshifted_.data() + r * size);
  }
  if (kept) bytes_ = {};
}

void RecordStore::find_norms() {
  std::vector<float> room(shape_.size() + 8);
  squared_norms_.resize(count_);
  for (std::size_t r = 0; r < count_; ++r) {
    squared_norms_[r] = sum_of_squares(inputs(r, room.data()), shape_.size());
  }
}

/// Where the pixels that are not zero stand, if a quarter or more is.
void RecordStore::find_positions() {
  const std::size_t size = shape_.size();
  const auto zeros = static_cast<std::size_t>(std::count(bytes_.begin(), bytes_.end(), 0));
  if (4 * zeros < bytes_.size()) return;
  no_shift_.assign(size, 0.0F);
  const std::size_t groups = (size + kernel::kPositionGroup - 1) / kernel::kPositionGroup;
  const std::size_t words = (size + 63) / 64, group_words = (groups + 63) / 64;
  positions_.assign(count_ * words, 0);
  groups_.assign(count_ * group_words, 0);
  for (std::size_t r = 0; r < count_; ++r) {
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes_[r * size + i] == 0) continue;
      const std::size_t group = i / kernel::kPositionGroup;
      positions_[r * words + i / 64] |= std::uint64_t{1} << i % 64;
      groups_[r * group_words + group / 64] |= std::uint64_t{1} << group % 64;
    }
  }
}

void RecordStore::expand(std::size_t i, const std::vector<float>& shift, float* values) const {
  const std::size_t size = shape_.size();
  kernel::expand_pixels(bytes_.data() + i * size, scale_.data(), shift.data(), size, values);
}

const float* RecordStore::inputs(std::size_t i, float* room) const {
  if (!floats_.empty()) return floats_.data() + i * shape_.size();
  expand(i, shift_, room);
  return room;
}

void RecordStore::expect(std::size_t i) const {
  constexpr std::size_t kLine = 64;
  if (bytes_.empty()) return;
  const std::uint8_t* bytes = bytes_.data() + i * shape_.size();
  for (std::size_t at = 0; at < shape_.size(); at += kLine) hwy::Prefetch(bytes + at);
  if (!sparse()) return;
  const std::size_t words = positions_.size() / count_;
  const std::uint64_t* positions = positions_.data() + i * words;
  for (std::size_t at = 0; at < words; at += kLine / sizeof(*positions)) {
    hwy::Prefetch(positions + at);
  }
}

std::size_t RecordStore::nonzero_count(std::size_t i) const {
  const std::size_t words = positions_.size() / count_;
  std::size_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    count += static_cast<std::size_t>(std::popcount(positions_[i * words + w]));
  }
  return count;
}

kernel::SparseRow RecordStore::sparse_row(std::size_t i, float* room) const {
  const std::size_t size = shape_.size();
  const float* values = room;
  if (!unshifted_.empty()) {
    values = unshifted_.data() + i * size;
  } else {
    expand(i, no_shift_, room);
  }
  return {values, positions_.data() + i * (positions_.size() / count_),
          groups_.data() + i * (groups_.size() / count_)};
}

}  // namespace sfumato::lab
