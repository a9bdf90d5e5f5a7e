#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato::kernel {

/// A patch of an image: `segments` rows of `segment` contiguous floats, `stride` apart.
struct PatchShape {
  std::size_t segments, segment, stride;
};

/// One output pixel and channel that carries a gradient: behind a max pool, one in four at most.
struct PatchTerm {
  std::uint32_t offset;  ///< of the patch's corner, in floats from the base
  float value;
};

/// out[s][j] = sum over terms of value base[offset + s stride + j]: the gradient of one channel's
/// weights. Rows of `out` are padded(segment) long; the padding gets numbers that mean nothing, and up to
/// seven floats behind each segment are read.
void sum_patches(const float* base, const PatchTerm* terms, std::size_t count,
                 const PatchShape& shape, float* out);

/// Output channels with gradient whose patches share a corner.
struct PatchRun {
  std::uint32_t offset;
  std::uint32_t first, count;  ///< into `channels` and `values`
};

/// base[offset + s stride + j] += sum over the run of values weights[channel][s][j], run by run: the
/// gradient of the input. Rows of `weights` are padded(segment) long with zeros at the end; a channel
/// has segments padded(segment) of them.
void scatter_patches(const PatchRun* runs, std::size_t count, const std::uint32_t* channels,
                     const float* values, const float* weights, const PatchShape& shape,
                     float* base);

}  // namespace sfumato::kernel
