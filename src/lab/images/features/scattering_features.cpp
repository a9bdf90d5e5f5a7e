#include "lab/images/features/scattering_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "lab/images/features/scattering.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato::lab {
namespace {

/// Groups of maps that are normalised together: three maps each for one channel, as published results have it [TramerBoneh2021].
constexpr std::size_t kGroups = 27;
/// Keeps flat groups, of black images, at zero.
constexpr double kFlat = 1e-5;

/// Means of pooling x pooling pixels of a map; those at the ends may be of fewer.
void pool(std::span<const float> map, std::size_t height, std::size_t width, std::size_t pooling,
          std::span<float> pooled) {
  const std::size_t columns = (width + pooling - 1) / pooling;
  for (std::size_t i = 0; i < pooled.size(); ++i) {
    const std::size_t top = i / columns * pooling, left = i % columns * pooling;
    const std::size_t bottom = std::min(top + pooling, height),
                      right = std::min(left + pooling, width);
    double sum = 0.0;
    for (std::size_t y = top; y < bottom; ++y) {
      for (std::size_t x = left; x < right; ++x) sum += static_cast<double>(map[y * width + x]);
    }
    pooled[i] = static_cast<float>(sum / static_cast<double>((bottom - top) * (right - left)));
  }
}

/// Mean 0 and variance 1 within each group of neighbouring values.
void normalise_groups(std::span<float> values) {
  const std::size_t size = values.size() / kGroups;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::span<float> group = values.subspan(g * size, size);
    double sum = 0.0, squares = 0.0;
    for (const float value : group) sum += static_cast<double>(value);
    const double mean = sum / static_cast<double>(size);
    for (const float value : group) squares += std::pow(static_cast<double>(value) - mean, 2);
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(size) + kFlat * kFlat);
    for (float& value : group)
      value = static_cast<float>(scale * (static_cast<double>(value) - mean));
  }
}

/// value / divisor: the constants of channels are left to the normalisation.
void read_plane(const LabelledSet& set, std::size_t record, std::size_t channel,
                std::span<float> plane) {
  const std::size_t from = record * set.shape.size() + channel * plane.size();
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < plane.size(); ++i) {
          plane[i] = static_cast<float>(static_cast<double>(values[from + i]) /
                                        set.standardisation.divisor);
        }
      },
      set.values);
}

}  // namespace

ImageShape scattering_shape(const ImageShape& images, std::size_t pooling) {
  const Scattering transform(images.height, images.width);
  const auto p = static_cast<int>(std::min<std::size_t>(pooling, 1U << 30));
  if (p > transform.height() || p > transform.width()) {
    throw InvalidArgument(
        fmt::format("`pooling` = {} of maps of {} x {}", p, transform.height(), transform.width()),
        "Pool at most a whole map");
  }
  return {images.channels * static_cast<int>(Scattering::kMaps), (transform.height() + p - 1) / p,
          (transform.width() + p - 1) / p};
}

std::vector<float> scattering_features(const LabelledSet& set, std::size_t pooling) {
  const ImageShape shape = scattering_shape(set.shape, pooling);
  const Scattering transform(set.shape.height, set.shape.width);
  const auto height = static_cast<std::size_t>(transform.height()),
             width = static_cast<std::size_t>(transform.width());
  const std::size_t channels = static_cast<std::size_t>(set.shape.channels);
  const std::size_t plane = set.shape.size() / channels, map = height * width;
  const std::size_t pooled = shape.size() / (channels * Scattering::kMaps);
  std::vector<float> features(set.count() * shape.size());
  Observer nobody;
  parallel_blocks(
      {"features", set.count(), kFourierLanes}, nobody,
      [&](std::uint64_t first, std::uint64_t last) {
        const std::size_t count = last - first;
        std::vector<float> pixels(count * plane), maps(count * Scattering::kMaps * map);
        std::vector<std::span<const float>> images;
        std::vector<std::span<float>> outputs;
        for (std::size_t i = 0; i < count; ++i) {
          images.emplace_back(pixels.data() + i * plane, plane);
          outputs.emplace_back(maps.data() + i * Scattering::kMaps * map, Scattering::kMaps * map);
        }
        for (std::size_t c = 0; c < channels; ++c) {
          for (std::size_t i = 0; i < count; ++i) {
            read_plane(set, first + i, c, {pixels.data() + i * plane, plane});
          }
          transform.transform(images, outputs);
          for (std::size_t i = 0; i < count; ++i) {
            float* to =
                features.data() + (first + i) * shape.size() + c * Scattering::kMaps * pooled;
            for (std::size_t m = 0; m < Scattering::kMaps; ++m) {
              pool(outputs[i].subspan(m * map, map), height, width, pooling,
                   {to + m * pooled, pooled});
            }
          }
        }
        for (std::size_t i = 0; i < count; ++i) {
          normalise_groups({features.data() + (first + i) * shape.size(), shape.size()});
        }
      });
  return features;
}

}  // namespace sfumato::lab
