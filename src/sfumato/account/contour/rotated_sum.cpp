#include "sfumato/account/contour/rotated_sum.hpp"

#include <cstdint>
#include <cstring>

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 8;
using Eight = double __attribute__((vector_size(kLanes * sizeof(double))));
using EightBits = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));

struct Lanes {
  Eight re{}, im{}, size{}, weight_error{}, log_error{};
};

// As in tilt_sums and phase_sum: e^x - 1 by powers of two and Taylor's series, angles reduced by pi in three parts.
constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kToWhole = 0x1.8p52;
constexpr double kPi1 = 0x1.921fb544p+1, kPi2 = 0x1.0b4611a6p-33, kPi3 = 0x1.3198a2e037073p-68;
constexpr double kInversePi = 0x1.45f306dc9c883p-2;

/// Blocks of eight points. One body without calls: a function that takes or returns Eight has no one calling convention.
SFUMATO_VECTOR_CLONES void add_blocks(const RotatedPoints& points, std::size_t blocks, double p_re,
                                      double p_im, Lanes* sums) {
  Lanes t = *sums;
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight c_re, c_im, c, l_re, l_im, weight_error, log_error;
    std::memcpy(&c_re, points.weight_re + b * kLanes, sizeof c_re);
    std::memcpy(&c_im, points.weight_im + b * kLanes, sizeof c_im);
    std::memcpy(&c, points.weight + b * kLanes, sizeof c);
    std::memcpy(&l_re, points.log_re + b * kLanes, sizeof l_re);
    std::memcpy(&l_im, points.log_im + b * kLanes, sizeof l_im);
    std::memcpy(&weight_error, points.weight_error + b * kLanes, sizeof weight_error);
    std::memcpy(&log_error, points.log_error + b * kLanes, sizeof log_error);
    Eight x = p_re * l_re - p_im * l_im;
    const Eight angle = p_re * l_im + p_im * l_re;
    x = x < -700.0 ? x * 0.0 - 700.0 : x;
    // e^x - 1
    const Eight shifted = x * kInverseLn2 + kToWhole;
    const Eight n = shifted - kToWhole;
    const Eight r = (x - n * kLn2High) - n * kLn2Low;
    EightBits bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    Eight power;
    std::memcpy(&power, &bits, sizeof power);
    Eight series = 1.0 / 1307674368000.0 * r + 1.0 / 87178291200.0;
    series = series * r + 1.0 / 6227020800.0;
    series = series * r + 1.0 / 479001600.0;
    series = series * r + 1.0 / 39916800.0;
    series = series * r + 1.0 / 3628800.0;
    series = series * r + 1.0 / 362880.0;
    series = series * r + 1.0 / 40320.0;
    series = series * r + 1.0 / 5040.0;
    series = series * r + 1.0 / 720.0;
    series = series * r + 1.0 / 120.0;
    series = series * r + 1.0 / 24.0;
    series = series * r + 1.0 / 6.0;
    series = series * r + 0.5;
    const Eight small = r + r * r * series;
    const Eight change = power * small + (power - 1.0);
    const Eight whole = power * small + power;
    // e^{i angle} - 1 by the half angle, sin^2 and sin cos of which have the period pi.
    const Eight half = 0.5 * angle;
    const Eight turns = (half * kInversePi + kToWhole) - kToWhole;
    const Eight v = 0.5 * (((half - turns * kPi1) - turns * kPi2) - turns * kPi3);
    const Eight z = v * v;
    Eight s = 1.0 / 355687428096000.0 * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    const Eight sine = v + v * z * s;
    Eight k = 1.0 / 20922789888000.0 * z - 1.0 / 87178291200.0;
    k = k * z + 1.0 / 479001600.0;
    k = k * z - 1.0 / 3628800.0;
    k = k * z + 1.0 / 40320.0;
    k = k * z - 1.0 / 720.0;
    k = k * z + 1.0 / 24.0;
    const Eight cosine = 1.0 - (0.5 * z - z * z * k);
    const Eight sin_half = 2.0 * sine * cosine, cos_half = 1.0 - 2.0 * sine * sine;
    const Eight down = 2.0 * sin_half * sin_half, across = 2.0 * sin_half * cos_half;
    // e^{pl} - 1 = (e^x - 1) + e^x (e^{i angle} - 1)
    const Eight e_re = change - whole * down, e_im = whole * across;
    t.re += c_re * e_re - c_im * e_im;
    t.im += c_re * e_im + c_im * e_re;
    const Eight moved = (x < 0.0 ? -x : x) + (angle < 0.0 ? -angle : angle);
    const Eight capped = moved < 2.0 ? moved : moved * 0.0 + 2.0;
    const Eight most = whole > 1.0 ? whole : whole * 0.0 + 1.0;
    const Eight size = c * capped * most;
    t.size += size;
    t.weight_error += size * weight_error;
    t.log_error += c * whole * log_error;
  }
  *sums = t;
}

double total(const Eight& sums) {
  double all = 0.0;
  for (std::size_t i = 0; i < kLanes; ++i) all += sums[i];
  return all;
}

}  // namespace

RotatedSum rotated_sum(const RotatedPoints& p, double p_re, double p_im) {
  Lanes sums;
  const std::size_t blocks = p.count / kLanes, rest = p.count % kLanes;
  add_blocks(p, blocks, p_re, p_im, &sums);
  if (rest > 0) {
    double last[7][kLanes] = {};
    const double* from[7] = {p.weight_re, p.weight_im,    p.weight,   p.log_re,
                             p.log_im,    p.weight_error, p.log_error};
    for (int i = 0; i < 7; ++i) {
      std::memcpy(last[i], from[i] + blocks * kLanes, rest * sizeof(double));
    }
    add_blocks({last[0], last[1], last[2], last[3], last[4], last[5], last[6], kLanes}, 1, p_re,
               p_im, &sums);
  }
  return {total(sums.re), total(sums.im), total(sums.size), total(sums.weight_error),
          total(sums.log_error)};
}

}  // namespace sfumato
