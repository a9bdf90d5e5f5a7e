#include "sfumato/random/float_normals.hpp"

#include "sfumato/random/normal_lanes.hpp"

namespace sfumato {

#if defined(__x86_64__)
// float_normals_avx2.cpp and float_normals_avx512.cpp, compiled for those processors.
std::size_t fill_float_normals_avx2(std::uint64_t step, std::uint64_t number,
                                    const std::uint32_t* key, float* values, std::size_t blocks);
std::size_t fill_float_normals_avx512(std::uint64_t step, std::uint64_t number,
                                      const std::uint32_t* key, float* values, std::size_t blocks);
#endif

namespace {

void fill_scalar(std::uint64_t step, std::uint64_t number, const PhiloxKey& key, float* values,
                 std::size_t blocks) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t n = number + b;
    const PhiloxBlock w = philox4x32_10({low(n), low(n >> 32), low(step), low(step >> 32)}, key);
    float* out = values + 4 * b;
    float_box_muller<ScalarLanes>(w[0], w[1], out[0], out[1]);
    float_box_muller<ScalarLanes>(w[2], w[3], out[2], out[3]);
  }
}

VectorWidth widest() {
  if (has_vectors(VectorWidth::avx512)) return VectorWidth::avx512;
  return has_vectors(VectorWidth::avx2) ? VectorWidth::avx2 : VectorWidth::baseline;
}

}  // namespace

bool has_vectors(VectorWidth width) {
#if defined(__x86_64__)
  if (width == VectorWidth::avx512) return __builtin_cpu_supports("avx512f") != 0;
  if (width == VectorWidth::avx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return width == VectorWidth::baseline || width == VectorWidth::scalar;
}

void fill_float_normals(VectorWidth width, std::uint64_t step, std::uint64_t number,
                        const PhiloxKey& key, float* values, std::size_t blocks) {
  while (blocks > 0) {
    std::size_t done = 0;
    switch (width) {
#if defined(__x86_64__)
      case VectorWidth::avx512:
        done = fill_float_normals_avx512(step, number, key.data(), values, blocks);
        break;
      case VectorWidth::avx2:
        done = fill_float_normals_avx2(step, number, key.data(), values, blocks);
        break;
#endif
      case VectorWidth::baseline:
        done = fill_by_lanes(step, number, key.data(), values, blocks);
        break;
      default: break;
    }
    // What is left when fewer than a group remain, or one group where a counter word overflows.
    constexpr std::size_t kLargestGroup = 16;
    const std::size_t rest = blocks - done < kLargestGroup || width == VectorWidth::scalar
                                 ? blocks - done
                                 : kLargestGroup;
    fill_scalar(step, number + done, key, values + 4 * done, rest);
    done += rest;
    number += done;
    values += 4 * done;
    blocks -= done;
  }
}

void fill_float_normals(std::uint64_t step, std::uint64_t number, const PhiloxKey& key,
                        float* values, std::size_t blocks) {
  static const VectorWidth width = widest();
  fill_float_normals(width, step, number, key, values, blocks);
}

}  // namespace sfumato
