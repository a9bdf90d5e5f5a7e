#include "lab/nn/kernel/patches.hpp"

#include <array>
#include <utility>

#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/kernel/pieces.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/patches.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

constexpr std::size_t kSums = kRegisters == 32 ? 24 : 12;  ///< accumulators
constexpr std::size_t kWidest = 4;                         ///< vectors of a segment at a time
constexpr std::size_t most_segments(std::size_t vectors) {
  return kSums / vectors < 8 ? kSums / vectors : 8;
}

/// S segments of V vectors from `shift` on: sums over the terms.
template <std::size_t S, std::size_t V>
void sum_tile(const float* base, const PatchTerm* terms, std::size_t count, std::size_t stride,
              std::size_t shift, float* out, std::size_t out_stride) {
  const Lanes d;
  Vector sum[S][V];
#pragma GCC unroll 8
  for (std::size_t s = 0; s < S; ++s) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < V; ++v) sum[s][v] = hn::Zero(d);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float* x = base + terms[i].offset + shift;
    Vector value = hn::Set(d, terms[i].value);
    hold(value);
#pragma GCC unroll 8
    for (std::size_t s = 0; s < S; ++s, x += stride) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < V; ++v) {
        sum[s][v] = hn::MulAdd(value, hn::LoadU(d, x + v * kLanes), sum[s][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t s = 0; s < S; ++s) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < V; ++v) {
      hn::StoreU(sum[s][v], d, out + s * out_stride + v * kLanes);
    }
  }
}

/// A part of one run's patch: summed over the run's channels, then added to the image.
template <std::size_t S, std::size_t V>
void scatter_tile(const PatchRun& run, const std::uint32_t* channels, const float* values,
                  const float* weights, std::size_t channel_stride, std::size_t weight_stride,
                  std::size_t stride, float* image) {
  const Lanes d;
  Vector sum[S][V];
#pragma GCC unroll 8
  for (std::size_t s = 0; s < S; ++s) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < V; ++v) sum[s][v] = hn::Zero(d);
  }
  for (std::uint32_t i = run.first; i < run.first + run.count; ++i) {
    const float* w = weights + channels[i] * channel_stride;
    Vector value = hn::Set(d, values[i]);
    hold(value);
#pragma GCC unroll 8
    for (std::size_t s = 0; s < S; ++s, w += weight_stride) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < V; ++v) {
        sum[s][v] = hn::MulAdd(value, hn::LoadU(d, w + v * kLanes), sum[s][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t s = 0; s < S; ++s, image += stride) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < V; ++v) {
      hn::StoreU(hn::Add(hn::LoadU(d, image + v * kLanes), sum[s][v]), d, image + v * kLanes);
    }
  }
}

template <std::size_t V, std::size_t... S>
constexpr auto sum_tiles(std::integer_sequence<std::size_t, S...>) {
  return std::array{sum_tile<S + 1, V>...};
}
template <std::size_t V, std::size_t... S>
constexpr auto scatter_tiles(std::integer_sequence<std::size_t, S...>) {
  return std::array{scatter_tile<S + 1, V>...};
}

template <std::size_t V>
void sum_columns(const float* base, const PatchTerm* terms, std::size_t count,
                 const PatchShape& shape, std::size_t from, float* out) {
  constexpr std::size_t kMost = most_segments(V);
  static constexpr auto kTiles = sum_tiles<V>(std::make_integer_sequence<std::size_t, kMost>());
  const std::size_t out_stride = padded(shape.segment);
  for_each_piece(shape.segments, kMost, [&](std::size_t size, std::size_t first) {
    kTiles[size - 1](base, terms, count, shape.stride, first * shape.stride + from,
                     out + first * out_stride + from, out_stride);
  });
}

template <std::size_t V>
HWY_INLINE void scatter_columns(const PatchRun& run, const std::uint32_t* channels,
                                const float* values, const float* weights, const PatchShape& shape,
                                std::size_t from, float* base) {
  constexpr std::size_t kMost = most_segments(V);
  static constexpr auto kTiles = scatter_tiles<V>(std::make_integer_sequence<std::size_t, kMost>());
  const std::size_t weight_stride = padded(shape.segment);
  for_each_piece(shape.segments, kMost, [&](std::size_t size, std::size_t first) {
    kTiles[size - 1](run, channels, values, weights + first * weight_stride + from,
                     shape.segments * weight_stride, weight_stride, shape.stride,
                     base + run.offset + first * shape.stride + from);
  });
}

void sum_patches(const float* base, const PatchTerm* terms, std::size_t count,
                 const PatchShape& shape, float* out) {
  for_each_piece(padded(shape.segment) / kLanes, kWidest, [&](std::size_t width, std::size_t v) {
    const std::size_t from = v * kLanes;
    if (width == 1) return sum_columns<1>(base, terms, count, shape, from, out);
    if (width == 2) return sum_columns<2>(base, terms, count, shape, from, out);
    if (width == 3) return sum_columns<3>(base, terms, count, shape, from, out);
    sum_columns<4>(base, terms, count, shape, from, out);
  });
}

void scatter_patches(const PatchRun* runs, std::size_t count, const std::uint32_t* channels,
                     const float* values, const float* weights, const PatchShape& shape,
                     float* base) {
  // Run by run, whatever the tiles: a pixel then gets its terms in an order that depends on nothing
  // else.
  for (const PatchRun* run = runs; run != runs + count; ++run) {
    for_each_piece(padded(shape.segment) / kLanes, kWidest, [&](std::size_t width, std::size_t v) {
      const auto call = [&](const auto& columns) {
        columns(*run, channels, values, weights, shape, v * kLanes, base);
      };
      if (width == 1) return call(scatter_columns<1>);
      if (width == 2) return call(scatter_columns<2>);
      if (width == 3) return call(scatter_columns<3>);
      call(scatter_columns<4>);
    });
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(sum_patches);
HWY_EXPORT(scatter_patches);

void sum_patches(const float* base, const PatchTerm* terms, std::size_t count,
                 const PatchShape& shape, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_patches)(base, terms, count, shape, out);
}
void scatter_patches(const PatchRun* runs, std::size_t count, const std::uint32_t* channels,
                     const float* values, const float* weights, const PatchShape& shape,
                     float* base) {
  HWY_DYNAMIC_DISPATCH(scatter_patches)(runs, count, channels, values, weights, shape, base);
}

}  // namespace sfumato::kernel
#endif
