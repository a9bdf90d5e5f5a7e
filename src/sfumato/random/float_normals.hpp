#pragma once

#include <cstddef>
#include <cstdint>

#include "sfumato/random/stream.hpp"

namespace sfumato {

/// Fills values[0 .. 4 blocks) with the float normals of blocks number, number + 1, ... of `step`
/// (layout: stream.hpp), with the widest vectors this processor has. Every width gives the same bits.
void fill_float_normals(std::uint64_t step, std::uint64_t number, const PhiloxKey& key,
                        float* values, std::size_t blocks);

}  // namespace sfumato
