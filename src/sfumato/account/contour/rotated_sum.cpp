#include "sfumato/account/contour/rotated_sum.hpp"

#include <cstring>

#include "sfumato/account/contour/vector_elementary.hpp"

namespace sfumato {
namespace {

using namespace vector_elementary;

struct Lanes {
  Eight re{}, im{}, size{}, weight_error{}, log_error{};
};

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
    Eight change, whole, sine, cosine;
    exponential(x, change, whole);
    // e^{i angle} - 1 by the half angle, sin^2 and sin cos of which have the period pi.
    sine_and_cosine(0.5 * angle, sine, cosine);
    const Eight down = 2.0 * sine * sine, across = 2.0 * sine * cosine;
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
