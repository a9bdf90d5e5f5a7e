#include "lab/nn/kernel/matrix.hpp"

#include <array>
#include <utility>

#include "lab/nn/kernel/pieces.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/matrix.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>

#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

/// Vectors of a panel of columns, at most, and rows of a tile: as many accumulators as leave room for
/// the panel's row of b and one number of a.
constexpr std::size_t kWidest = kRegisters == 32 ? 5 : 3;
constexpr std::size_t tile_rows(std::size_t vectors) {
  return (kRegisters - 1 - vectors) / vectors;
}

/// Rows row .. row + R, columns column .. column + V vectors, the part [from, to) of each segment.
template <std::size_t R, std::size_t V>
void rows_tile(const RowsTimesMatrix& t, std::size_t row, std::size_t column, std::size_t from,
               std::size_t to) {
  const Lanes d;
  Vector sum[R][V];
  const float* a[R];
  float* c = t.c + row * t.c_stride + column;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
    a[i] = t.rows[row + i];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      // A part of a longer sum goes on from what the part before it stored: always the same order of additions.
      if (from != 0) {
        sum[i][v] = hn::LoadU(d, c + i * t.c_stride + v * kLanes);
      } else if (t.start != nullptr) {
        sum[i][v] = hn::LoadU(d, t.start + column + v * kLanes);
      } else {
        sum[i][v] = hn::Zero(d);
      }
    }
  }
  for (std::size_t s = 0; s < t.segments; ++s) {
    const float* b = t.b + (s * t.segment + from) * t.b_stride + column;
    const std::size_t end = s * t.stride + to;
    for (std::size_t j = s * t.stride + from; j < end; ++j, b += t.b_stride) {
      Vector w[V];
#pragma GCC unroll 16
      for (std::size_t v = 0; v < V; ++v) {
        w[v] = hn::LoadU(d, b + v * kLanes);
        // Kept in a register: GCC 12 would read the operand of every FMA from memory again.
        hold(w[v]);
      }
#pragma GCC unroll 16
      for (std::size_t i = 0; i < R; ++i) {
        Vector x = hn::Set(d, a[i][j]);
        hold(x);
#pragma GCC unroll 16
        for (std::size_t v = 0; v < V; ++v) sum[i][v] = hn::MulAdd(x, w[v], sum[i][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      hn::StoreU(sum[i][v], d, c + i * t.c_stride + v * kLanes);
    }
  }
}

/// Rows row .. row + R of the result, columns column .. column + V vectors, terms [from, to).
template <std::size_t R, std::size_t V>
void transpose_tile(const TransposeTimesMatrix& t, std::size_t row, std::size_t column,
                    std::size_t from, std::size_t to) {
  const Lanes d;
  Vector sum[R][V];
  float* c = t.c + row * t.c_stride + column;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      sum[i][v] = from == 0 ? hn::Zero(d) : hn::LoadU(d, c + i * t.c_stride + v * kLanes);
    }
  }
  const float* b = t.b + from * t.b_stride + column;
  for (std::size_t p = from; p < to; ++p, b += t.b_stride) {
    const float* a = t.rows[p] + row;
    hwy::Prefetch(a + 2 * R);  // the rows are far apart, out of the hardware's sight
    Vector w[V];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      w[v] = hn::LoadU(d, b + v * kLanes);
      hold(w[v]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < R; ++i) {
      Vector x = hn::Set(d, a[i]);
      hold(x);
#pragma GCC unroll 16
      for (std::size_t v = 0; v < V; ++v) sum[i][v] = hn::MulAdd(x, w[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      hn::StoreU(sum[i][v], d, c + i * t.c_stride + v * kLanes);
    }
  }
}

/// The tiles of V vectors with 1, 2, ... rows.
template <class Task>
using Tile = void (*)(const Task&, std::size_t, std::size_t, std::size_t, std::size_t);
template <std::size_t V, std::size_t... R>
constexpr std::array<Tile<RowsTimesMatrix>, sizeof...(R)> rows_tiles(
    std::integer_sequence<std::size_t, R...>) {
  return {rows_tile<R + 1, V>...};
}
template <std::size_t V, std::size_t... R>
constexpr std::array<Tile<TransposeTimesMatrix>, sizeof...(R)> transpose_tiles(
    std::integer_sequence<std::size_t, R...>) {
  return {transpose_tile<R + 1, V>...};
}

/// One panel of V vectors of columns, all rows. Long segments are cut so that the panel's part of b
/// stays in the first-level cache while the rows pass.
template <std::size_t V>
void rows_panel(const RowsTimesMatrix& t, std::size_t column) {
  constexpr std::size_t R = tile_rows(V);
  static constexpr auto kTiles = rows_tiles<V>(std::make_integer_sequence<std::size_t, R>());
  constexpr std::size_t kBlock = 4096 / (V * kLanes);
  const std::size_t most = t.segments == 1 ? kBlock : t.segment;
  for_each_piece(t.segment, most, [&](std::size_t size, std::size_t from) {
    for_each_piece(t.row_count, R, [&](std::size_t rows, std::size_t row) {
      kTiles[rows - 1](t, row, column, from, from + size);
    });
  });
}

template <std::size_t V>
void transpose_panel(const TransposeTimesMatrix& t, std::size_t column) {
  constexpr std::size_t R = tile_rows(V);
  static constexpr auto kTiles = transpose_tiles<V>(std::make_integer_sequence<std::size_t, R>());
  constexpr std::size_t kTerms = 144;  // rows of b and of a that stay in the first-level cache
  for_each_piece(t.terms, kTerms, [&](std::size_t size, std::size_t from) {
    for_each_piece(t.count, R, [&](std::size_t rows, std::size_t row) {
      kTiles[rows - 1](t, row, column, from, from + size);
    });
  });
}

/// Tiles of a single row: as many columns as registers hold, for there are no other rows to hide the
/// latency of a multiply-add with, and b is read once.
template <std::size_t... V>
constexpr std::array<Tile<RowsTimesMatrix>, sizeof...(V)> single_row_tiles(
    std::integer_sequence<std::size_t, V...>) {
  return {rows_tile<1, V + 1>...};
}

void single_row_times_matrix(const RowsTimesMatrix& t) {
  constexpr std::size_t kMost = (kRegisters - 2) / 2;
  static constexpr auto kTiles = single_row_tiles(std::make_integer_sequence<std::size_t, kMost>());
  for_each_piece(t.columns / kLanes, kMost, [&](std::size_t width, std::size_t vector) {
    kTiles[width - 1](t, 0, vector * kLanes, 0, t.segment);
  });
}

void rows_times_matrix(const RowsTimesMatrix& t) {
  if (t.row_count == 1) return single_row_times_matrix(t);
  for_each_piece(t.columns / kLanes, kWidest, [&](std::size_t width, std::size_t vector) {
    const std::size_t column = vector * kLanes;
    if (width == 1) return rows_panel<1>(t, column);
    if (width == 2) return rows_panel<2>(t, column);
    if constexpr (kWidest == 3) return rows_panel<3>(t, column);
    if (width == 3) return rows_panel<3>(t, column);
    if (width == 4) return rows_panel<4>(t, column);
    rows_panel<5>(t, column);
  });
}

void transpose_times_matrix(const TransposeTimesMatrix& t) {
  for_each_piece(t.columns / kLanes, kWidest, [&](std::size_t width, std::size_t vector) {
    const std::size_t column = vector * kLanes;
    if (width == 1) return transpose_panel<1>(t, column);
    if (width == 2) return transpose_panel<2>(t, column);
    if constexpr (kWidest == 3) return transpose_panel<3>(t, column);
    if (width == 3) return transpose_panel<3>(t, column);
    if (width == 4) return transpose_panel<4>(t, column);
    transpose_panel<5>(t, column);
  });
}

const char* instruction_set() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(rows_times_matrix);
HWY_EXPORT(transpose_times_matrix);
HWY_EXPORT(instruction_set);

void rows_times_matrix(const RowsTimesMatrix& task) {
  HWY_DYNAMIC_DISPATCH(rows_times_matrix)(task);
}
void transpose_times_matrix(const TransposeTimesMatrix& task) {
  HWY_DYNAMIC_DISPATCH(transpose_times_matrix)(task);
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(instruction_set)(); }

}  // namespace sfumato::kernel
#endif
