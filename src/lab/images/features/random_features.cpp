#include "lab/images/features/random_features.hpp"

#include <cmath>
#include <numbers>
#include <span>

#include "sfumato/core/parallel.hpp"
#include "sfumato/core/vector_clones.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
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
