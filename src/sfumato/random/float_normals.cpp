#include "sfumato/random/float_normals.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sfumato/random/float_normals.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sfumato::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using SignedTag = hn::RebindToSigned<FloatTag>;
using Floats = hn::Vec<FloatTag>;
using Bits = hn::Vec<BitsTag>;

HWY_INLINE Floats constant(float x) { return hn::Set(FloatTag(), x); }
HWY_INLINE Bits word(std::uint32_t x) { return hn::Set(BitsTag(), x); }
HWY_INLINE Bits bits_of(Floats x) { return hn::BitCast(BitsTag(), x); }
HWY_INLINE Floats float_of(Bits x) { return hn::BitCast(FloatTag(), x); }
HWY_INLINE Floats converted(Bits x) {
  return hn::ConvertTo(FloatTag(), hn::BitCast(SignedTag(), x));
}

/// c_0 + x (c_1 + x (c_2 + ...)), never fused.
template <std::size_t N>
HWY_INLINE Floats polynomial(Floats x, const float (&coefficients)[N]) {
  Floats sum = constant(coefficients[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::Add(constant(coefficients[i]), hn::Mul(x, sum));
  return sum;
}

/// first = r cos(2 pi v), second = r sin(2 pi v), r = sqrt(-2 log u), in single precision from
/// two words:  u = (floor(radius / 2) + 1/2) 2^-31, rounded to a float,  v = angle 2^-32.
///
/// Only +, -, *, sqrt and conversions, in this order and never fused: the same bits with every instruction set.
/// |error| < 5e-7 (1 + r) against exact arithmetic on the rounded u. r = 0 where u rounds to 1; the
/// largest r is sqrt(64 log 2) = 6.66.
HWY_INLINE void float_box_muller(Bits radius, Bits angle, Floats& first, Floats& second) {
  const Floats u =
      hn::Mul(hn::Add(converted(hn::ShiftRight<1>(radius)), constant(0.5f)), constant(0x1p-31f));
  // u = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
  constexpr std::uint32_t kOne = 0x3F800000u, kRootHalf = 0x3F3504F3u;
  const Bits shifted = hn::Add(bits_of(u), word(kOne - kRootHalf));
  const Floats k = converted(hn::Sub(hn::ShiftRight<23>(shifted), word(127)));
  const Floats f = hn::Sub(float_of(hn::Add(hn::And(shifted, word(0x007FFFFFu)), word(kRootHalf))),
                           constant(1.0f));
  // -2 log(1 + f) = f (-2 + f (1 + f Q(f))), Q of degree 6 with the least largest relative error
  // of the whole, 3e-8 (Lawson's iteration on 4,000 Chebyshev points).
  const Floats log_part =
      hn::Mul(f, polynomial(f, {-2.0f, 1.0f, -0.66667819f, 0.50002676f, -0.39926124f, 0.33155173f,
                                -0.29829574f, 0.28534952f, -0.17400719f}));
  const Floats r = hn::Sqrt(hn::Add(hn::Mul(k, constant(-1.38629436f)), log_part));

  // The nearest quarter turn, and the angle from there, |t| <= pi / 4.
  const Bits quarter = hn::ShiftRight<30>(hn::Add(angle, word(0x20000000u)));
  const Floats t = hn::Mul(converted(hn::Sub(angle, hn::ShiftLeft<30>(quarter))),
                           constant(1.46291807926715968e-9f));
  const Floats z = hn::Mul(t, t);
  // Cephes' single-precision polynomials (sinf.c), errors below 1e-7.
  const Floats sine = hn::Add(
      t, hn::Mul(t, hn::Mul(z, polynomial(
                                   z, {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f}))));
  const Floats cosine =
      hn::Add(hn::Sub(constant(1.0f), hn::Mul(constant(0.5f), z)),
              hn::Mul(hn::Mul(z, z), polynomial(z, {4.166664568298827e-2f, -1.388731625493765e-3f,
                                                    2.443315711809948e-5f})));
  // Odd quarters exchange the two; bit 1 of quarter + 1 and of quarter are the signs.
  const Bits odd = hn::Sub(word(0), hn::And(quarter, word(1)));
  const Bits exchanged = hn::And(hn::Xor(bits_of(sine), bits_of(cosine)), odd);
  const Bits turn = hn::ShiftLeft<30>(hn::And(hn::Add(quarter, word(1)), word(2)));
  const Bits half_turn = hn::ShiftLeft<30>(hn::And(quarter, word(2)));
  first = hn::Mul(r, float_of(hn::Xor(hn::Xor(bits_of(cosine), exchanged), turn)));
  second = hn::Mul(r, float_of(hn::Xor(hn::Xor(bits_of(sine), exchanged), half_turn)));
}

#if HWY_TARGET == HWY_SCALAR

void fill(std::uint64_t step, std::uint64_t number, const PhiloxKey& key, float* values,
          std::size_t blocks) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t n = number + b;
    const PhiloxBlock w = philox4x32_10({low(n), low(n >> 32), low(step), low(step >> 32)}, key);
    Floats normals[4];
    float_box_muller(word(w[0]), word(w[1]), normals[0], normals[1]);
    float_box_muller(word(w[2]), word(w[3]), normals[2], normals[3]);
    for (std::size_t i = 0; i < 4; ++i) values[4 * b + i] = hn::GetLane(normals[i]);
  }
}

#else

using WideTag = hn::RepartitionToWide<BitsTag>;
using Wide = hn::Vec<WideTag>;

/// As many blocks at a time as there are lanes.
///
/// Philox works on 64-bit elements of which only the low halves matter, so that no round has to
/// move halves about: the even 32-bit lanes are one such vector, the odd lanes another. Block
/// `C i + c` of a group sits in lane i of chunk c (C chunks of 128 bits), so that a transposition
/// within chunks puts the normals in the order of the layout.
void fill(std::uint64_t step, std::uint64_t number, const PhiloxKey& key, float* values,
          std::size_t blocks) {
  const FloatTag floats;
  const BitsTag words;
  const WideTag wide;
  constexpr int kRounds = 10;
  const std::size_t group = hn::Lanes(words), chunks = group / 4;
  HWY_ALIGN std::uint64_t offsets[2][HWY_MAX_BYTES / 8];
  for (std::size_t c = 0; c < chunks; ++c) {
    for (std::size_t half = 0; half < 2; ++half) {
      offsets[half][2 * c] = c + chunks * half;
      offsets[half][2 * c + 1] = c + chunks * (half + 2);
    }
  }
  Wide key0[kRounds], key1[kRounds];
  std::uint32_t word0 = key[0], word1 = key[1];
  for (int round = 0; round < kRounds; ++round) {
    key0[round] = hn::Set(wide, word0);
    key1[round] = hn::Set(wide, word1);
    word0 += 0x9E3779B9u;
    word1 += 0xBB67AE85u;
  }
  const Bits multiplier0 = hn::BitCast(words, hn::Set(wide, 0xD2511F53u));
  const Bits multiplier1 = hn::BitCast(words, hn::Set(wide, 0xCD9E8D57u));
  for (std::size_t done = 0; done < blocks; done += group) {
    Wide c0[2], c1[2], c2[2], c3[2];
    for (int half = 0; half < 2; ++half) {
      const Wide block = hn::Add(hn::Load(wide, offsets[half]), hn::Set(wide, number + done));
      c0[half] = hn::And(block, hn::Set(wide, 0xFFFFFFFFu));
      c1[half] = hn::ShiftRight<32>(block);
      c2[half] = hn::Set(wide, step & 0xFFFFFFFFu);
      c3[half] = hn::Set(wide, step >> 32);
    }
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const Wide product0 = hn::MulEven(hn::BitCast(words, c0[half]), multiplier0);
        const Wide product1 = hn::MulEven(hn::BitCast(words, c2[half]), multiplier1);
        c0[half] = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1[half]), key0[round]);
        c1[half] = product1;
        c2[half] = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3[half]), key1[round]);
        c3[half] = product0;
      }
    }
    const auto merged = [&](const Wide* halves) HWY_ATTR {
      return hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(halves[1])),
                         hn::BitCast(words, halves[0]));
    };
    Floats n0, n1, n2, n3;
    float_box_muller(merged(c0), merged(c1), n0, n1);
    float_box_muller(merged(c2), merged(c3), n2, n3);
    const Wide a = hn::BitCast(wide, hn::InterleaveLower(floats, n0, n1));
    const Wide b = hn::BitCast(wide, hn::InterleaveLower(floats, n2, n3));
    const Wide c = hn::BitCast(wide, hn::InterleaveUpper(floats, n0, n1));
    const Wide d = hn::BitCast(wide, hn::InterleaveUpper(floats, n2, n3));
    const Floats rows[4] = {hn::BitCast(floats, hn::InterleaveLower(wide, a, b)),
                            hn::BitCast(floats, hn::InterleaveUpper(wide, a, b)),
                            hn::BitCast(floats, hn::InterleaveLower(wide, c, d)),
                            hn::BitCast(floats, hn::InterleaveUpper(wide, c, d))};
    if (done + group <= blocks) {
      for (std::size_t i = 0; i < 4; ++i) {
        hn::StoreU(rows[i], floats, values + 4 * done + i * group);
      }
    } else {
      HWY_ALIGN float last[HWY_MAX_BYTES];
      for (std::size_t i = 0; i < 4; ++i) hn::Store(rows[i], floats, last + i * group);
      std::copy_n(last, 4 * (blocks - done), values + 4 * done);
    }
  }
}

#endif

}  // namespace sfumato::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace sfumato {
namespace {
HWY_EXPORT(fill);
}  // namespace

void fill_float_normals(std::uint64_t step, std::uint64_t number, const PhiloxKey& key,
                        float* values, std::size_t blocks) {
  HWY_DYNAMIC_DISPATCH(fill)(step, number, key, values, blocks);
}

}  // namespace sfumato

#endif
