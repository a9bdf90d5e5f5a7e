#include "sfumato/account/contour/tilt_sums.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 8;
using Eight = double __attribute__((vector_size(kLanes * sizeof(double))));
using EightBits = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));

struct Lanes {
  Eight change{}, change_lost{}, mass{}, first{}, second{}, rounding{};
};

constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kToWhole = 0x1.8p52;  // a whole number is in the low bits of the sum with it

/// Blocks of eight points. One body without calls: a function that takes or returns Eight has no one calling convention.
SFUMATO_VECTOR_CLONES void add_blocks(const TiltPoints& p, std::size_t blocks, double s,
                                      Lanes* sums) {
  Lanes t = *sums;
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight w, a, l, roundings;
    std::memcpy(&w, p.weight + b * kLanes, sizeof w);
    std::memcpy(&a, p.offset + b * kLanes, sizeof a);
    std::memcpy(&l, p.loss + b * kLanes, sizeof l);
    std::memcpy(&roundings, p.roundings + b * kLanes, sizeof roundings);
    const Eight x = a + s * l;
    // e^x - 1 = 2^n (e^r - 1) + (2^n - 1) with |r| <= log(2)/2, by Taylor's series to r^14.
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
    const Eight whole = power * small + power;  // e^x
    const Eight size = x < 0.0 ? -x : x;
    const Eight capped = size < 1.0 ? size : size * 0.0 + 1.0;
    const Eight most = whole > 1.0 ? whole : whole * 0.0 + 1.0;
    const Eight term = w * change, tilted = w * whole;
    const Eight next = t.change + term, back = next - t.change;
    t.change_lost += (t.change - (next - back)) + (term - back);
    t.change = next;
    t.mass += tilted;
    t.first += tilted * l;
    t.second += tilted * l * l;
    t.rounding += w * (roundings * capped * most) + 3.0 * size * tilted;
  }
  *sums = t;
}

double total(const Eight& sums) {
  double all = 0.0;
  for (std::size_t i = 0; i < kLanes; ++i) all += sums[i];
  return all;
}

}  // namespace

TiltSums tilt_sums(const TiltPoints& points, double s) {
  Lanes sums;
  const std::size_t blocks = points.count / kLanes, rest = points.count % kLanes;
  add_blocks(points, blocks, s, &sums);
  if (rest > 0) {
    double last[4][kLanes] = {};
    const double* from[4] = {points.weight, points.offset, points.loss, points.roundings};
    for (int i = 0; i < 4; ++i)
      std::memcpy(last[i], from[i] + blocks * kLanes, rest * sizeof(double));
    add_blocks({last[0], last[1], last[2], last[3], kLanes}, 1, s, &sums);
  }
  CompensatedSum change;
  for (std::size_t i = 0; i < kLanes; ++i) change.add(sums.change[i]);
  for (std::size_t i = 0; i < kLanes; ++i) change.add(sums.change_lost[i]);
  return {change.value(), total(sums.mass), total(sums.first), total(sums.second),
          total(sums.rounding)};
}

}  // namespace sfumato
