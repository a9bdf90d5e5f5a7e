#pragma once

// For the sources of `random` alone, each compiled for another processor: see float_box_muller.hpp.

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sfumato/random/float_box_muller.hpp"

namespace sfumato {
namespace {

/// Vectors as wide as the processor this file is compiled for has them, by GCC's vector extension:
/// operators work on every element.
struct Lanes {
#if defined(__AVX512F__)
  static constexpr std::size_t kBytes = 64;
#elif defined(__AVX2__)
  static constexpr std::size_t kBytes = 32;
#else
  static constexpr std::size_t kBytes = 16;
#endif
  static constexpr std::size_t kWords = kBytes / 4;    ///< blocks worked on at a time
  static constexpr std::size_t kChunks = kBytes / 16;  ///< parts of 128 bits
  using Float __attribute__((vector_size(kBytes))) = float;
  using Bits __attribute__((vector_size(kBytes))) = std::uint32_t;
  using Signed __attribute__((vector_size(kBytes))) = std::int32_t;
  using Wide __attribute__((vector_size(kBytes))) = std::uint64_t;

  static Float to_float(Signed x) { return __builtin_convertvector(x, Float); }

#if defined(__AVX512F__)
  static Float sqrt(Float x) { return _mm512_sqrt_ps(x); }
#elif defined(__AVX2__)
  static Float sqrt(Float x) { return _mm256_sqrt_ps(x); }
#elif defined(__x86_64__)
  static Float sqrt(Float x) { return _mm_sqrt_ps(x); }
#else
  static Float sqrt(Float x) {
    for (std::size_t i = 0; i < kWords; ++i) x[i] = __builtin_sqrtf(x[i]);
    return x;
  }
#endif

  /// Product of the low halves of each 64-bit element.
  static Wide multiply_low(Wide a, Wide b) {
#if defined(__AVX512F__)
    return same_bits<Wide>(_mm512_mul_epu32(same_bits<__m512i>(a), same_bits<__m512i>(b)));
#elif defined(__AVX2__)
    return same_bits<Wide>(_mm256_mul_epu32(same_bits<__m256i>(a), same_bits<__m256i>(b)));
#elif defined(__x86_64__)
    return same_bits<Wide>(_mm_mul_epu32(same_bits<__m128i>(a), same_bits<__m128i>(b)));
#else
    return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
  }
};

/// Lane i is lane which[i] of the two vectors one after the other.
template <class Vector, class Indices>
inline Vector shuffled(Vector first, Vector second, Indices which) {
#ifdef __clang__
  constexpr std::size_t kLanes = sizeof(Vector) / sizeof(first[0]);
  Vector result = first;
  for (std::size_t i = 0; i < kLanes; ++i) {
    result[i] = which[i] < kLanes ? first[which[i]] : second[which[i] - kLanes];
  }
  return result;
#else
  return __builtin_shuffle(first, second, which);
#endif
}

/// Fills values[0 .. 4 blocks) with the float normals of blocks number, number + 1, ... of the
/// layout in stream.hpp; returns how many blocks it did, a multiple of Lanes::kWords and at most
/// `blocks`. Stops where the low word of the block number would overflow.
///
/// Philox works on 64-bit elements of which only the low halves matter, so that no round has to
/// move halves about: the even 32-bit lanes are one such vector, the odd lanes another. Block
/// `C i + c` of a group sits in lane i of chunk c (C chunks of 128 bits), so that a transposition
/// within chunks puts the normals in the order of the layout.
inline std::size_t fill_by_lanes(std::uint64_t step, std::uint64_t number, const std::uint32_t* key,
                                 float* values, std::size_t blocks) {
  using L = Lanes;
  using Wide = L::Wide;
  using Bits = L::Bits;
  using Float = L::Float;
  constexpr std::size_t kGroup = L::kWords, kChunks = L::kChunks;
  constexpr int kRounds = 10;

  Wide offset[2] = {};
  Bits evens = {}, low_pair = {}, high_pair = {}, low_double = {}, high_double = {};
  for (std::size_t c = 0; c < kChunks; ++c) {
    for (std::size_t half = 0; half < 2; ++half) {
      offset[half][2 * c] = c + kChunks * half;
      offset[half][2 * c + 1] = c + kChunks * (half + 2);
    }
    // Shuffles of two vectors: lanes of the second count from kGroup.
    const auto lane = [&](std::size_t vector, std::size_t i) {
      return static_cast<std::uint32_t>(vector * kGroup + 4 * c + i);
    };
    for (std::size_t i = 0; i < 2; ++i) {
      evens[4 * c + 2 * i] = lane(0, 2 * i);
      evens[4 * c + 2 * i + 1] = lane(1, 2 * i);
      low_pair[4 * c + 2 * i] = lane(0, i);
      low_pair[4 * c + 2 * i + 1] = lane(1, i);
      high_pair[4 * c + 2 * i] = lane(0, i + 2);
      high_pair[4 * c + 2 * i + 1] = lane(1, i + 2);
      low_double[4 * c + i] = lane(0, i);
      low_double[4 * c + i + 2] = lane(1, i);
      high_double[4 * c + i] = lane(0, i + 2);
      high_double[4 * c + i + 2] = lane(1, i + 2);
    }
  }

  const Wide multiplier0 = Wide{} + 0xD2511F53u, multiplier1 = Wide{} + 0xCD9E8D57u;
  Wide key0[kRounds], key1[kRounds];
  std::uint32_t word0 = key[0], word1 = key[1];
  for (int round = 0; round < kRounds; ++round) {
    key0[round] = Wide{} + word0;
    key1[round] = Wide{} + word1;
    word0 += 0x9E3779B9u;
    word1 += 0xBB67AE85u;
  }

  std::size_t done = 0;
  for (; done + kGroup <= blocks; done += kGroup) {
    const std::uint64_t first = number + done;
    if ((first & 0xFFFFFFFFu) > 0xFFFFFFFFu - (kGroup - 1)) break;
    Bits w[4];
    Wide c0[2], c1[2], c2[2], c3[2];
    for (int half = 0; half < 2; ++half) {
      c0[half] = offset[half] + (first & 0xFFFFFFFFu);
      c1[half] = Wide{} + (first >> 32);
      c2[half] = Wide{} + (step & 0xFFFFFFFFu);
      c3[half] = Wide{} + (step >> 32);
    }
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const Wide product0 = L::multiply_low(c0[half], multiplier0);
        const Wide product1 = L::multiply_low(c2[half], multiplier1);
        c0[half] = (product1 >> 32) ^ c1[half] ^ key0[round];
        c1[half] = product1;
        c2[half] = (product0 >> 32) ^ c3[half] ^ key1[round];
        c3[half] = product0;
      }
    }
    const auto merge = [&](const Wide* halves) {
      return shuffled(same_bits<Bits>(halves[0]), same_bits<Bits>(halves[1]), evens);
    };
    w[0] = merge(c0);
    w[1] = merge(c1);
    w[2] = merge(c2);
    w[3] = merge(c3);

    Float n0, n1, n2, n3;
    float_box_muller<L>(w[0], w[1], n0, n1);
    float_box_muller<L>(w[2], w[3], n2, n3);
    const Float a = shuffled(n0, n1, low_pair), b = shuffled(n2, n3, low_pair);
    const Float c = shuffled(n0, n1, high_pair), d = shuffled(n2, n3, high_pair);
    const Float rows[4] = {shuffled(a, b, low_double), shuffled(a, b, high_double),
                           shuffled(c, d, low_double), shuffled(c, d, high_double)};
    std::memcpy(values + 4 * done, rows, sizeof rows);
  }
  return done;
}

}  // namespace
}  // namespace sfumato
