#include "sfumato/account/contour/phase_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLanes = 8;
using Eight = double __attribute__((vector_size(kLanes * sizeof(double))));

/// Sums of eight lanes and what they lost.
struct Lanes {
  Eight re{}, re_lost{}, im{}, im_lost{};
};

// pi in three parts of which the first two have 33 bits: their products with whole numbers below 2^20 are exact.
constexpr double kPi1 = 0x1.921fb544p+1, kPi2 = 0x1.0b4611a6p-33, kPi3 = 0x1.3198a2e037073p-68;
constexpr double kInversePi = 0x1.45f306dc9c883p-2;
constexpr double kToWhole = 0x1.8p52;  // added and subtracted it rounds to a whole number

// Taylor's series of sine and cosine on [-pi/4, pi/4]: what is left out is below 2^-58 of the value.
constexpr double kS3 = -1.0 / 6.0, kS5 = 1.0 / 120.0, kS7 = -1.0 / 5040.0, kS9 = 1.0 / 362880.0,
                 kS11 = -1.0 / 39916800.0, kS13 = 1.0 / 6227020800.0, kS15 = -1.0 / 1307674368000.0,
                 kS17 = 1.0 / 355687428096000.0;
constexpr double kC4 = 1.0 / 24.0, kC6 = -1.0 / 720.0, kC8 = 1.0 / 40320.0, kC10 = -1.0 / 3628800.0,
                 kC12 = 1.0 / 479001600.0, kC14 = -1.0 / 87178291200.0,
                 kC16 = 1.0 / 20922789888000.0;

/// Blocks of eight terms. One body without calls: a function that takes or returns Eight has no one calling convention.
SFUMATO_VECTOR_CLONES void add_blocks(const double* weight, const double* loss, std::size_t blocks,
                                      double half_y, Lanes* sums) {
  Eight re = sums->re, re_lost = sums->re_lost, im = sums->im, im_lost = sums->im_lost;
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight a, l;
    std::memcpy(&a, weight + b * kLanes, sizeof a);
    std::memcpy(&l, loss + b * kLanes, sizeof l);
    // sin^2 and sin cos have the period pi: r in [-pi/2, pi/2], v = r/2.
    const Eight half = half_y * l;
    const Eight n = (half * kInversePi + kToWhole) - kToWhole;
    const Eight v = 0.5 * (((half - n * kPi1) - n * kPi2) - n * kPi3);
    const Eight z = v * v;
    const Eight sine =
        v +
        v * z *
            (kS3 +
             z * (kS5 + z * (kS7 + z * (kS9 + z * (kS11 + z * (kS13 + z * (kS15 + z * kS17)))))));
    const Eight cosine =
        1.0 -
        (0.5 * z -
         z * z * (kC4 + z * (kC6 + z * (kC8 + z * (kC10 + z * (kC12 + z * (kC14 + z * kC16)))))));
    const Eight sin_r = 2.0 * sine * cosine, cos_r = 1.0 - 2.0 * sine * sine;
    const Eight turn = 2.0 * a * sin_r;
    const Eight down = -turn * sin_r, across = turn * cos_r;
    const Eight next_re = re + down, back_re = next_re - re;
    re_lost += (re - (next_re - back_re)) + (down - back_re);
    re = next_re;
    const Eight next_im = im + across, back_im = next_im - im;
    im_lost += (im - (next_im - back_im)) + (across - back_im);
    im = next_im;
  }
  sums->re = re;
  sums->re_lost = re_lost;
  sums->im = im;
  sums->im_lost = im_lost;
}

/// The largest |L| of blocks of eight.
SFUMATO_VECTOR_CLONES void find_farthest(const double* loss, std::size_t blocks, double* farthest) {
  Eight most{};
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight l;
    std::memcpy(&l, loss + b * kLanes, sizeof l);
    const Eight size = l < 0.0 ? -l : l;
    most = size > most ? size : most;
  }
  for (std::size_t i = 0; i < kLanes; ++i) *farthest = std::max(*farthest, most[i]);
}

double total(const Eight& sums, const Eight& lost) {
  CompensatedSum all;
  for (std::size_t i = 0; i < kLanes; ++i) all.add(sums[i]);
  for (std::size_t i = 0; i < kLanes; ++i) all.add(lost[i]);
  return all.value();
}

PhaseSum far_sum(const double* weight, const double* loss, std::size_t count, double y) {
  CompensatedSum re, im;
  for (std::size_t j = 0; j < count; ++j) {
    const double half = 0.5 * y * loss[j];
    const double s = std::sin(half), c = std::cos(half);
    re.add(-2.0 * weight[j] * s * s);
    im.add(2.0 * weight[j] * s * c);
  }
  return {re.value(), im.value()};
}

}  // namespace

PhaseSum phase_sum(const double* weight, const double* loss, std::size_t count, double y) {
  const std::size_t blocks = count / kLanes, rest = count % kLanes;
  double farthest = 0.0;
  find_farthest(loss, blocks, &farthest);
  for (std::size_t j = blocks * kLanes; j < count; ++j) {
    farthest = std::max(farthest, std::fabs(loss[j]));
  }
  if (!(0.5 * std::fabs(y) * farthest < 1e6)) return far_sum(weight, loss, count, y);
  Lanes sums;
  add_blocks(weight, loss, blocks, 0.5 * y, &sums);
  if (rest > 0) {
    double last_weight[kLanes] = {}, last_loss[kLanes] = {};
    std::memcpy(last_weight, weight + blocks * kLanes, rest * sizeof(double));
    std::memcpy(last_loss, loss + blocks * kLanes, rest * sizeof(double));
    add_blocks(last_weight, last_loss, 1, 0.5 * y, &sums);
  }
  return {total(sums.re, sums.re_lost), total(sums.im, sums.im_lost)};
}

}  // namespace sfumato
