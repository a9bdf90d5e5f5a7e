#include "sfumato/account/contour/phase_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/vector_elementary.hpp"

namespace sfumato {
namespace {

using namespace vector_elementary;

/// Sums of eight lanes and what they lost.
struct Lanes {
  Eight re{}, re_lost{}, im{}, im_lost{};
};

/// Blocks of eight terms. One body without calls: a function that takes or returns Eight has no one calling convention.
SFUMATO_VECTOR_CLONES void add_blocks(const double* weight, const double* loss, std::size_t blocks,
                                      double half_y, Lanes* sums) {
  Eight re = sums->re, re_lost = sums->re_lost, im = sums->im, im_lost = sums->im_lost;
  for (std::size_t b = 0; b < blocks; ++b) {
    Eight a, l;
    std::memcpy(&a, weight + b * kLanes, sizeof a);
    std::memcpy(&l, loss + b * kLanes, sizeof l);
    // a (e^{iyL} - 1) by the half angle: no difference of near numbers, however small y L is.
    Eight sin_r, cos_r;
    sine_and_cosine(half_y * l, sin_r, cos_r);
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
