#pragma once

// For the sources of `random` alone. Each of them is compiled for another processor, so everything
// here has internal linkage: an inline function shared between them would be taken from any one.

#include <cstdint>
#include <cstring>

namespace sfumato {
namespace {

/// What Box-Muller needs beyond operators, for single numbers; the vectors of normal_lanes.hpp
/// bring their own. Bits is as many uint32 as Float has numbers.
struct ScalarLanes {
  using Float = float;
  using Bits = std::uint32_t;
  using Signed = std::int32_t;
  static Float to_float(Signed x) { return static_cast<float>(x); }
  static Float sqrt(Float x) { return __builtin_sqrtf(x); }
};

template <class To, class From>
inline __attribute__((always_inline)) To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// first = r cos(2 pi v), second = r sin(2 pi v), r = sqrt(-2 log u), in single precision from
/// two words:  u = (floor(radius / 2) + 1/2) 2^-31, rounded to a float,  v = angle 2^-32.
///
/// Only +, -, *, sqrt and conversions, in this order and never fused: the same bits in every width.
/// |error| < 5e-7 (1 + r) against exact arithmetic on the rounded u. r = 0 where u rounds to 1; the
/// largest r is sqrt(64 log 2) = 6.66.
template <class Lanes>
inline __attribute__((always_inline)) void float_box_muller(const typename Lanes::Bits& radius,
                                                            const typename Lanes::Bits& angle,
                                                            typename Lanes::Float& first,
                                                            typename Lanes::Float& second) {
  using Float = typename Lanes::Float;
  using Bits = typename Lanes::Bits;
  using Signed = typename Lanes::Signed;

  const Float u = (Lanes::to_float(same_bits<Signed>(Bits(radius >> 1))) + 0.5f) * 0x1p-31f;
  // u = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
  constexpr std::uint32_t kOne = 0x3F800000u, kRootHalf = 0x3F3504F3u;
  const Bits shifted = same_bits<Bits>(u) + (kOne - kRootHalf);
  const Float k = Lanes::to_float(same_bits<Signed>(Bits(shifted >> 23)) - 127);
  const Float f = same_bits<Float>(Bits((shifted & 0x007FFFFFu) + kRootHalf)) - 1.0f;
  // -2 log(1 + f) = f (-2 + f (1 + f Q(f))), Q of degree 6 with the least largest relative error
  // of the whole, 3e-8 (Lawson's iteration on 4,000 Chebyshev points).
  const Float q =
      -0.66667819f +
      f * (0.50002676f +
           f * (-0.39926124f +
                f * (0.33155173f + f * (-0.29829574f + f * (0.28534952f + f * -0.17400719f)))));
  const Float r = Lanes::sqrt(k * -1.38629436f + f * (-2.0f + f * (1.0f + f * q)));

  // The nearest quarter turn, and the angle from there, |t| <= pi / 4.
  const Bits quarter = (angle + 0x20000000u) >> 30;
  const Float t =
      Lanes::to_float(same_bits<Signed>(Bits(angle - (quarter << 30)))) * 1.46291807926715968e-9f;
  const Float z = t * t;
  // Cephes' single-precision polynomials (sinf.c), errors below 1e-7.
  const Float sine =
      t + t * (z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f)));
  const Float cosine =
      (1.0f - 0.5f * z) +
      z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const Bits sine_bits = same_bits<Bits>(sine), cosine_bits = same_bits<Bits>(cosine);
  // Odd quarters exchange the two; bit 1 of quarter + 1 and of quarter are the signs.
  const Bits exchanged = (sine_bits ^ cosine_bits) & (Bits{} - (quarter & 1u));
  first = r * same_bits<Float>(Bits((cosine_bits ^ exchanged) ^ (((quarter + 1u) & 2u) << 30)));
  second = r * same_bits<Float>(Bits((sine_bits ^ exchanged) ^ ((quarter & 2u) << 30)));
}

}  // namespace
}  // namespace sfumato
