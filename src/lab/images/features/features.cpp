#include "lab/images/features/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/images/features/scattering.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/core/vector_clones.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/data/row_matrix.hpp"
#include "sfumato/random/stream.hpp"

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

/// The shape of the features of such images: 81 pooled maps of each channel.
/// Throws   InvalidArgument for what is no image of 8 x 8 or more, or pooled beyond one pixel.
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

/// Scattering features of every record, record by record: see with_features().
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

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// The first line of a file.
std::string head_of(const std::string& name, std::string_view bytes) {
  return fmt::format("sfumato features: {}; sha256 {}\n", name, sha256(bytes));
}

bool read_kept(const std::string& path, const std::string& name, std::vector<float>& values) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || failed) return false;
  std::string content;
  try {
    content = read_file(path);
  } catch (const Error&) {
    return false;
  }
  const std::size_t size = values.size() * sizeof(float), line = content.find('\n');
  if (line == std::string::npos || content.size() != line + 1 + size) return false;
  const std::string_view bytes = std::string_view(content).substr(line + 1);
  if (!content.starts_with(head_of(name, bytes))) return false;
  std::memcpy(values.data(), bytes.data(), size);
  return true;
}

void keep(const std::string& path, const std::string& name, const std::vector<float>& values) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) return;
  try {
    OutputFile file(path);
    file.write(head_of(name, bytes_of(values)));
    file.write(bytes_of(values));
    file.commit();
  } catch (const StorageError&) {
    // A full disk costs the next run its time, not this one its result.
  }
}

/// Numbers that are slow to compute and a function of what `name` says: those of an earlier call, from a file in the folder `cache`, or computed now
/// and kept there. A file that is not the one that was written (its digest is in its first line) counts for nothing; where nothing can be
/// written nothing is kept. An empty `cache` keeps nothing.
std::vector<float> cached_features(const std::string& cache, const std::string& name,
                                   std::size_t count,
                                   const std::function<std::vector<float>()>& compute) {
  if (cache.empty()) return compute();
  const std::string path =
      (std::filesystem::path(cache) / (sha256(name).substr(0, 32) + ".f4")).string();
  std::vector<float> values(count);
  if (read_kept(path, name, values)) return values;
  values = compute();
  keep(path, name, values);
  return values;
}

LabelledSet replaced(const LabelledSet& set, const ImageShape& shape, std::vector<float> values) {
  LabelledSet result;
  result.name = set.name;
  result.shape = shape;
  result.classes = set.classes;
  result.labels = set.labels;
  result.files = set.files;
  result.checksum = set.checksum;
  result.codings = set.codings;
  result.label = set.label;
  result.values = std::move(values);
  return result;
}

LabelledSet from_file(const LabelledSet& set, const std::string& file) {
  const RowMatrix table = read_row_matrix(file);
  if (table.rows() != static_cast<Eigen::Index>(set.count())) {
    throw InvalidArgument(fmt::format("{} rows of features for the {} records of {}", table.rows(),
                                      set.count(), set.name),
                          "Give one row for each record, in their order", Where::in(file));
  }
  const auto view = table.view();
  std::vector<float> values(static_cast<std::size_t>(view.size()));
  for (Eigen::Index i = 0; i < view.size(); ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(view.data()[i]);
  }
  const std::string digest =
      sha256({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  LabelledSet result = replaced(set, {static_cast<int>(table.cols()), 1, 1}, std::move(values));
  result.files.push_back(file);
  const std::string digests[] = {set.checksum, digest};
  result.checksum = joint_digest(digests);
  require_consistent(result);
  return result;
}

}  // namespace

LabelledSet with_features(const LabelledSet& set, const FeatureOptions& options,
                          const std::string& cache) {
  switch (options.kind) {
    case FeatureKind::none: return set;
    case FeatureKind::file: return from_file(set, options.file);
    case FeatureKind::random:
      return replaced(set, {static_cast<int>(options.count), 1, 1},
                      random_features(set, options.count, options.bandwidth));
    case FeatureKind::scattering: break;
  }
  const ImageShape shape = scattering_shape(set.shape, options.pooling);
  const std::string name = fmt::format("scattering 1, divisor {}, pooling {}, records {}",
                                       set.standardisation.divisor, options.pooling, set.checksum);
  return replaced(set, shape, cached_features(cache, name, set.count() * shape.size(), [&] {
                    return scattering_features(set, options.pooling);
                  }));
}

namespace {

/// Records that pass over the weights together.
constexpr std::uint64_t kBlock = 16;
/// Part of the key that no run's weights have.
constexpr std::uint64_t kFeatureWeights = 0x66656174757265;

/// out[r] = sum_i inputs[r][i] weights[i], in the order of i: a record's sums do not depend on which others it is computed with.
struct ProductTask {
  const float *inputs, *weights;
  std::size_t records, size, count;
  float* out;
};

SFUMATO_VECTOR_CLONES void add_products(const ProductTask& t) {
  for (std::size_t i = 0; i < t.size; ++i) {
    const float* row = t.weights + i * t.count;
    for (std::size_t r = 0; r < t.records; ++r) {
      const float x = t.inputs[r * t.size + i];
      float* to = t.out + r * t.count;
      for (std::size_t k = 0; k < t.count; ++k) to[k] += x * row[k];
    }
  }
}

}  // namespace

std::vector<float> random_features(const LabelledSet& set, std::size_t count, double bandwidth) {
  const std::size_t size = set.shape.size();
  const Stream normals(StreamKey(0, Purpose::initialisation, {kFeatureWeights, 0}));
  const Stream uniforms(StreamKey(0, Purpose::initialisation, {kFeatureWeights, 1}));
  std::vector<float> weights(size * count);
  normals.fill_normal(0, 0, std::span<float>(weights));
  const auto scale = static_cast<float>(1.0 / (bandwidth * std::sqrt(static_cast<double>(size))));
  for (float& weight : weights) weight *= scale;
  std::vector<double> shifts(count);
  uniforms.fill_uniform(0, 0, shifts);

  std::vector<float> values(set.count() * count);
  Observer nobody;
  const auto work = [&](std::uint64_t first, std::uint64_t last) {
    std::vector<float> inputs((last - first) * size);
    for (std::uint64_t r = first; r < last; ++r) {
      standardised(set, r, {inputs.data() + (r - first) * size, size});
    }
    float* out = values.data() + first * count;
    add_products({inputs.data(), weights.data(), last - first, size, count, out});
    for (std::size_t i = 0; i < (last - first) * count; ++i) {
      const double angle = static_cast<double>(out[i]) + 2.0 * std::numbers::pi * shifts[i % count];
      out[i] = static_cast<float>(std::numbers::sqrt2 * std::cos(angle));
    }
  };
  parallel_blocks({"features", set.count(), kBlock}, nobody, work);
  return values;
}

}  // namespace sfumato::lab
