#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato {

inline std::vector<int> label_counts(const LabelledSet& set) {
  std::vector<int> counts(static_cast<std::size_t>(set.classes), 0);
  for (const std::uint8_t label : set.labels) ++counts[label];
  return counts;
}

struct ChannelStatistics {
  double mean = 0.0;
  double deviation = 0.0;
};

/// Mean and deviation of pixel / 255 over all records, from the histogram of a channel.
inline ChannelStatistics channel_statistics(const LabelledSet& set, int channel) {
  std::array<double, 256> counts{};
  const std::size_t size = set.shape.size();
  const std::size_t plane = size / static_cast<std::size_t>(set.shape.channels);
  const std::uint8_t* values = std::get<std::vector<std::uint8_t>>(set.values).data();
  for (std::size_t record = 0; record < set.count(); ++record) {
    const std::uint8_t* first = values + record * size + static_cast<std::size_t>(channel) * plane;
    for (std::size_t i = 0; i < plane; ++i) counts[first[i]] += 1.0;
  }
  double total = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const double value = static_cast<double>(byte) / 255.0;
    total += counts[byte];
    sum += counts[byte] * value;
    squares += counts[byte] * value * value;
  }
  const double mean = sum / total;
  return {mean, std::sqrt(squares / total - mean * mean)};
}

}  // namespace sfumato
