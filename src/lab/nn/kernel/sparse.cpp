#include "lab/nn/kernel/sparse.hpp"

#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "lab/nn/kernel/pieces.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/sparse.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>

#include "lab/nn/kernel/strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

constexpr std::size_t kWidest = kRegisters == 32 ? 5 : 3;

/// Positions that are worked on while the rows of a pass, in words of 64: all where b stays in the
/// second-level cache, whose speed is enough; otherwise as many as stay in the first.
constexpr std::size_t block_words(std::size_t inputs, std::size_t b_stride) {
  constexpr std::size_t kCached = std::size_t{256} << 10;
  return inputs * b_stride * sizeof(float) <= kCached ? (inputs + 63) / 64 : 2;
}

/// Asks for a word's numbers of a row that will be read soon. Rows are anywhere in a large set, where the
/// processor does not see them coming.
HWY_INLINE void prefetch_word(const SparseRow& row, std::size_t word) {
  constexpr std::size_t kLine = 64 / sizeof(float);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 64; i += kLine) hwy::Prefetch(row.values + word * 64 + i);
}

/// R rows and V vectors of columns, positions of words [from, to).
template <std::size_t R, std::size_t V>
void sparse_rows_tile(const SparseRowsTimesMatrix& t, std::size_t row, std::size_t column,
                      std::size_t from, std::size_t to) {
  const SparseRow* r = t.rows + row;
  float* c = t.c + row * t.c_stride + column;
  Strip<V> sum[R];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < R; ++i) {
    sum[i].load(from == 0 ? t.start + column : c + i * t.c_stride);
  }
  const SparseRow* soon = row + 2 * R <= t.row_count ? r + R : r;
  for (std::size_t word = from; word < to; ++word) {
    std::uint64_t bits = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R; ++i) {
      bits |= r[i].positions[word];
      prefetch_word(soon[i], word);
    }
    const float* block = t.b + word * 64 * t.b_stride + column;
    for (; bits != 0; bits &= bits - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(bits));
      Strip<V> w;
      w.load(block + p * t.b_stride);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < R; ++i) sum[i].add(r[i].values[word * 64 + p], w);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < R; ++i) sum[i].store(c + i * t.c_stride);
}

template <std::size_t V, std::size_t... R>
constexpr auto sparse_rows_tiles(std::integer_sequence<std::size_t, R...>) {
  return std::array{sparse_rows_tile<R + 1, V>...};
}

template <std::size_t V>
void sparse_rows_panel(const SparseRowsTimesMatrix& t, std::size_t column) {
  // Sums enough to hide the latency of a multiply-add and the work of finding a position, and no more:
  // the more rows, the fewer positions at which all of them are zero.
  constexpr std::size_t kSums = kRegisters == 32 ? 15 : 9;
  constexpr std::size_t kRows = (kSums + V - 1) / V;
  static constexpr auto kTiles =
      sparse_rows_tiles<V>(std::make_integer_sequence<std::size_t, kRows>());
  const std::size_t words = (t.inputs + 63) / 64, block = block_words(t.inputs, t.b_stride);
  for (std::size_t from = 0; from < words; from += block) {
    const std::size_t to = from + block < words ? from + block : words;
    for_each_piece(t.row_count, kRows, [&](std::size_t rows, std::size_t row) {
      kTiles[rows - 1](t, row, column, from, to);
    });
  }
}

void sparse_rows_times_matrix(const SparseRowsTimesMatrix& t) {
  for_each_piece(t.columns / kLanes, kWidest, [&](std::size_t width, std::size_t vector) {
    const std::size_t column = vector * kLanes;
    if (width == 1) return sparse_rows_panel<1>(t, column);
    if (width == 2) return sparse_rows_panel<2>(t, column);
    if constexpr (kWidest == 3) return sparse_rows_panel<3>(t, column);
    if (width == 3) return sparse_rows_panel<3>(t, column);
    if (width == 4) return sparse_rows_panel<4>(t, column);
    sparse_rows_panel<5>(t, column);
  });
}

/// R positions from p on and V vectors of columns, the rows of words [from, to) of `rows_of_group`.
template <std::size_t R, std::size_t V>
void sparse_tile(const SparseTransposeTimesMatrix& t, std::size_t p, std::size_t column,
                 std::size_t from, std::size_t to, const std::uint64_t* rows_of_group) {
  Strip<V> sum[R], base;
  float* c = t.c + p * t.c_stride + column;
  base.load(t.base + column);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < R; ++i) {
    if (from == 0) {
      sum[i].set_multiple(t.shift[p + i], base);
    } else {
      sum[i].load(c + i * t.c_stride);
    }
  }
  for (std::size_t word = from; word < to; ++word) {
    for (std::uint64_t bits = rows_of_group[word]; bits != 0; bits &= bits - 1) {
      const std::size_t row = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      const float* a = t.rows[row].values + p;
      // Narrow panels have no room for one more load.
      if constexpr (V > 3) hwy::Prefetch(a + 2 * kPositionGroup);
      Strip<V> w;
      w.load(t.b + row * t.b_stride + column);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < R; ++i) sum[i].add(a[i], w);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < R; ++i) sum[i].store(c + i * t.c_stride);
}

template <std::size_t V>
void sparse_transpose_panel(const SparseTransposeTimesMatrix& t, std::size_t column,
                            const std::uint64_t* rows_of_groups, std::size_t words) {
  static constexpr std::array kTiles = {sparse_tile<1, V>, sparse_tile<2, V>, sparse_tile<3, V>,
                                        sparse_tile<4, V>};
  static_assert(kTiles.size() == kPositionGroup);
  constexpr std::size_t kWords = 2;  // 128 rows of b stay in the first-level cache
  for (std::size_t from = 0; from < words; from += kWords) {
    const std::size_t to = from + kWords < words ? from + kWords : words;
    for (std::size_t p = 0; p < t.inputs; p += kPositionGroup) {
      const std::size_t size = t.inputs - p < kPositionGroup ? t.inputs - p : kPositionGroup;
      kTiles[size - 1](t, p, column, from, to, rows_of_groups + p / kPositionGroup * words);
    }
  }
}

/// Exchanges rows and columns of 64 x 64 bits, bit j of word i with bit i of word j.
HWY_INLINE void transpose_bits(std::uint64_t* words) {
  const auto exchange = [words](auto size, std::uint64_t mask) {
    constexpr unsigned kHalf = decltype(size)::value;
    for (unsigned first = 0; first < 64; first += 2 * kHalf) {
      for (unsigned i = first; i < first + kHalf; ++i) {
        const std::uint64_t change = ((words[i] >> kHalf) ^ words[i + kHalf]) & mask;
        words[i] ^= change << kHalf;
        words[i + kHalf] ^= change;
      }
    }
  };
  exchange(std::integral_constant<unsigned, 32>(), 0x00000000FFFFFFFFULL);
  exchange(std::integral_constant<unsigned, 16>(), 0x0000FFFF0000FFFFULL);
  exchange(std::integral_constant<unsigned, 8>(), 0x00FF00FF00FF00FFULL);
  exchange(std::integral_constant<unsigned, 4>(), 0x0F0F0F0F0F0F0F0FULL);
  exchange(std::integral_constant<unsigned, 2>(), 0x3333333333333333ULL);
  exchange(std::integral_constant<unsigned, 1>(), 0x5555555555555555ULL);
}

void sparse_transpose_times_matrix(const SparseTransposeTimesMatrix& t) {
  const std::size_t groups = (t.inputs + kPositionGroup - 1) / kPositionGroup;
  const std::size_t words = (t.terms + 63) / 64, group_words = (groups + 63) / 64;
  t.room->resize(group_words * 64 * words);
  std::uint64_t square[64];
  for (std::size_t word = 0; word < words; ++word) {
    for (std::size_t g = 0; g < group_words; ++g) {
      for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t row = word * 64 + i;
        square[i] = row < t.terms ? t.rows[row].groups[g] : 0;
      }
      transpose_bits(square);
      for (std::size_t i = 0; i < 64; ++i) (*t.room)[(g * 64 + i) * words + word] = square[i];
    }
  }
  for_each_piece(t.columns / kLanes, kWidest, [&](std::size_t width, std::size_t vector) {
    const std::size_t column = vector * kLanes;
    const std::uint64_t* rows = t.room->data();
    if (width == 1) return sparse_transpose_panel<1>(t, column, rows, words);
    if (width == 2) return sparse_transpose_panel<2>(t, column, rows, words);
    if constexpr (kWidest == 3) return sparse_transpose_panel<3>(t, column, rows, words);
    if (width == 3) return sparse_transpose_panel<3>(t, column, rows, words);
    if (width == 4) return sparse_transpose_panel<4>(t, column, rows, words);
    sparse_transpose_panel<5>(t, column, rows, words);
  });
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(sparse_rows_times_matrix);
HWY_EXPORT(sparse_transpose_times_matrix);

void sparse_rows_times_matrix(const SparseRowsTimesMatrix& task) {
  HWY_DYNAMIC_DISPATCH(sparse_rows_times_matrix)(task);
}
void sparse_transpose_times_matrix(const SparseTransposeTimesMatrix& task) {
  HWY_DYNAMIC_DISPATCH(sparse_transpose_times_matrix)(task);
}

}  // namespace sfumato::kernel
#endif
