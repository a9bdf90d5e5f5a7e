// Spec §3: trade-off curves down to false-positive rates of 1e-300, where the best test is known: an interval,
// its complement, a half line or a ball. The threshold of the test is drawn, both rates follow from it at 50
// digits, and nothing is solved for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using testing::RandomPairs;
using Real = boost::multiprecision::cpp_bin_float_50;

constexpr int kCases = 300;

/// P = N(0, I), Q = N(shift, ratio I) in the first coordinates, equal distributions in `equal` more.
WhitenedPair pair_of(Eigen::Index d, double ratio, double shift, Eigen::Index equal) {
  WhitenedPair pair{false, false, Eigen::ArrayXd::Zero(d + equal), Eigen::ArrayXd::Ones(d + equal),
                    Eigen::ArrayXd::Zero(d + equal)};
  pair.excess.head(d).setConstant(ratio - 1.0);
  pair.ratio.head(d).setConstant(ratio);
  pair.shift(0) = shift;
  return pair;
}

Real upper_tail(const Real& x) { return boost::math::erfc(x / sqrt(Real(2))) / 2; }

/// Probability of (centre - half, centre + half) under N(mean, sd^2). Narrow intervals have the density times
/// the width, with an error of the square of the width.
Real interval(const Real& mean, const Real& sd, const Real& centre, const Real& half) {
  const Real c = (centre - mean) / sd;
  const Real h = half / sd;
  if (h < 1e-12) return 2 * h * exp(-c * c / 2) / sqrt(2 * boost::math::constants::pi<Real>());
  const Real a = abs(c);
  return upper_tail(a - h) - upper_tail(a + h);
}

Real outside(const Real& mean, const Real& sd, const Real& centre, const Real& half) {
  const Real c = abs((centre - mean) / sd);
  const Real h = half / sd;
  return upper_tail(h - c) + upper_tail(h + c);
}

/// The printed rate is the true one, or a bound that is not below it and, for a test that is as good as
/// sup p/q, not far above it.
void expect_tpr(const WhitenedPair& pair, const Real& fpr, const Real& tpr,
                const std::string& context) {
  const double at = fpr.convert_to<double>();
  if (!(at >= 1e-300 && at < 1.0)) return;
  const Claimed<double> got = gaussian_tpr(pair, at);
  const double truth = tpr.convert_to<double>();
  EXPECT_GE(got.value, truth * (1.0 - 1e-8)) << context << ", fpr " << at;
  // A bound has nothing to spare either but where no contour converges, which none of these pairs do.
  EXPECT_LE(got.value, truth * (1.0 + 1e-5)) << context << ", fpr " << at;
  if (got.claim == Claim::exact) {
    EXPECT_NEAR(got.value / truth, 1.0, 1e-8) << context << ", fpr " << at;
  }
}

TEST(TprProperty, IntervalsWhereQIsWiderOrNarrower) {
  RandomPairs random(301);
  for (int k = 0; k < kCases; ++k) {
    const double sign = random.integer(0, 1) == 0 ? 1.0 : -1.0;
    const double ratio = std::exp(sign * random.log_uniform(0.01, 3.0));
    const double shift = random.uniform(-3.0, 3.0);
    const WhitenedPair pair = pair_of(1, ratio, shift, random.integer(0, 2));
    // log p/q is extreme at z0 with (z - shift) / ratio = z.
    const Real centre = Real(shift) / (1 - Real(ratio));
    const Real sd = sqrt(Real(ratio));
    const std::string context =
        fmt::format("seed 301, case {}: ratio {}, shift {}", k, ratio, shift);
    if (ratio > 1.0) {
      const Real half = pow(Real(10), Real(random.integer(0, 1) == 0 ? random.uniform(-299.0, 0.5)
                                                                     : random.uniform(-14.0, 0.5)));
      expect_tpr(pair, interval(shift, sd, centre, half), interval(0, 1, centre, half), context);
    } else {
      const Real half = abs(centre) + Real(random.uniform(0.0, 40.0)) * sd;
      expect_tpr(pair, outside(shift, sd, centre, half), outside(0, 1, centre, half), context);
    }
  }
}

TEST(TprProperty, HalfLines) {
  RandomPairs random(302);
  for (int k = 0; k < kCases; ++k) {
    const double shift = random.log_uniform(1e-3, 10.0);
    const Real threshold =
        random.uniform(-5.0, 37.0);  // in standard deviations above the mean of Q
    expect_tpr(pair_of(1, 1.0, -shift, 0), upper_tail(threshold), upper_tail(threshold - shift),
               fmt::format("seed 302, case {}: shift {}", k, shift));
  }
}

TEST(TprProperty, Balls) {
  RandomPairs random(303);
  for (int k = 0; k < kCases; ++k) {
    const Eigen::Index d = random.integer(1, 12);
    const double ratio = 1.0 + random.log_uniform(0.01, 10.0);
    const double square =
        std::pow(10.0, random.uniform(std::max(-290.0, -600.0 / static_cast<double>(d)), 1.0));
    const double shape = 0.5 * static_cast<double>(d);
    expect_tpr(pair_of(d, ratio, 0.0, random.integer(0, 1)),
               boost::math::gamma_p(shape, 0.5 * square / ratio),
               boost::math::gamma_p(shape, 0.5 * square),
               fmt::format("seed 303, case {}: d {}, ratio {}", k, d, ratio));
  }
}

TEST(TprProperty, GrowsWithTheRateAndKeepsBelowItsLimits) {
  RandomPairs random(304);
  for (int k = 0; k < 100; ++k) {
    WhitenedPair pair = random.pair(random.integer(1, 4));
    if (k % 2 == 0) {  // bounded above
      pair.excess = pair.excess.abs();
      pair.ratio = 1.0 + pair.excess;
    }
    const double advantage = gaussian_total_variation(pair).value;
    const double highest = range_of(privacy_loss(pair)).highest;
    double previous = 0.0;
    for (double exponent = -300.0; exponent < 0.0; exponent += exponent < -20.0 ? 17.3 : 0.9) {
      const double fpr = std::pow(10.0, exponent);
      const double tpr = gaussian_tpr(pair, fpr).value;
      EXPECT_GE(tpr, previous * (1.0 - 1e-9)) << "seed 304, case " << k << ", fpr " << fpr;
      EXPECT_GE(tpr, fpr * (1.0 - 1e-9)) << "seed 304, case " << k << ", fpr " << fpr;
      EXPECT_LE(tpr, (fpr + advantage) * (1.0 + 1e-9)) << "seed 304, case " << k << ", fpr " << fpr;
      EXPECT_LE(tpr, std::min(1.0, std::exp(highest + std::log(fpr)) * (1.0 + 1e-9)))
          << "seed 304, case " << k << ", fpr " << fpr;
      previous = tpr;
    }
  }
}

}  // namespace
}  // namespace sfumato
