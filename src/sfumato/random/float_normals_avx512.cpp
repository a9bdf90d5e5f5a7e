#include "sfumato/random/normal_lanes.hpp"

namespace sfumato {

/// fill_by_lanes with vectors of 512 bits; this file alone is compiled for them.
std::size_t fill_float_normals_avx512(std::uint64_t step, std::uint64_t number,
                                      const std::uint32_t* key, float* values, std::size_t blocks);
std::size_t fill_float_normals_avx512(std::uint64_t step, std::uint64_t number,
                                      const std::uint32_t* key, float* values, std::size_t blocks) {
  return fill_by_lanes(step, number, key, values, blocks);
}

}  // namespace sfumato
