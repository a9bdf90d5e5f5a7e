#include "sfumato/account/contour/tilt_sums.hpp"

#include <cstring>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/vector_elementary.hpp"

namespace sfumato {
namespace {

using namespace vector_elementary;

struct Lanes {
  Eight change{}, change_lost{}, mass{}, first{}, second{}, rounding{};
};

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
    Eight change, whole;
    exponential(x, change, whole);
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
