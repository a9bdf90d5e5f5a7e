// Spec §14, items 1 and 2, over random pairs of normal distributions.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPairs;

constexpr int kCases = 2000;

double kl(const WhitenedPair& pair) { return gaussian_kl(pair).value.value(); }
double renyi(const WhitenedPair& pair, double order) {
  return gaussian_renyi(pair, order).value.value();
}
double delta(const WhitenedPair& pair, double eps) {
  return gaussian_hockey_stick(pair, eps).delta;
}

/// A threshold near where something happens: from far below to far above the mean of the loss.
double threshold(RandomPairs& random, const WhitenedPair& pair) {
  const PrivacyLoss loss = privacy_loss(pair);
  const double spread = std::sqrt(loss.variance_p);
  if (random.integer(0, 2) == 0) return random.uniform(-5.0, 5.0);
  return std::clamp(loss.mean_p + random.uniform(-12.0, 12.0) * spread, -600.0, 600.0);
}

TEST(GaussianProperty, KlIsNonNegativeAndInvariantUnderAffineMaps) {
  RandomPairs random(101);
  for (int k = 0; k < kCases; ++k) {
    const Eigen::Index d = random.integer(1, 5);
    const VectorXd mean_p = random.vector(d);
    const VectorXd mean_q = random.vector(d);
    const MatrixXd cov_p = random.spd(d);
    const MatrixXd cov_q = random.spd(d);
    const double direct = kl(whiten(mean_p, Dense{cov_p}, mean_q, Dense{cov_q}));
    EXPECT_GT(direct, 0.0);
    const MatrixXd map = random.spd(d) + MatrixXd::Identity(d, d);
    const VectorXd offset = random.vector(d);
    const double mapped = kl(whiten(map * mean_p + offset, Dense{map * cov_p * map.transpose()},
                                    map * mean_q + offset, Dense{map * cov_q * map.transpose()}));
    EXPECT_NEAR(mapped / direct, 1.0, 1e-7) << "seed 101, case " << k;
    // Textbook formula, where it does not cancel.
    const MatrixXd inverse = cov_q.inverse();
    const VectorXd difference = mean_q - mean_p;
    const double textbook =
        0.5 * (log_det(Dense{cov_q}) - log_det(Dense{cov_p}) - static_cast<double>(d) +
               (inverse * cov_p).trace() + difference.dot(inverse * difference));
    EXPECT_NEAR(textbook / direct, 1.0, 1e-8) << "seed 101, case " << k;
    EXPECT_EQ(kl(whiten(mean_p, Dense{cov_p}, mean_p, Dense{cov_p})), 0.0);
  }
}

TEST(GaussianProperty, RenyiGrowsWithItsOrderThroughTheKl) {
  RandomPairs random(102);
  for (int k = 0; k < kCases; ++k) {
    const WhitenedPair pair = random.pair(random.integer(1, 6));
    const double reference = kl(pair);
    double previous = 0.0;
    for (const double order : {0.1, 0.5, 0.9, 0.999, 1.0, 1.001, 1.1, 2.0, 5.0, 50.0}) {
      const double value = renyi(pair, order);
      EXPECT_GE(value, previous * (1.0 - 1e-9)) << "seed 102, case " << k << ", order " << order;
      previous = value;
    }
    EXPECT_NEAR(renyi(pair, 1.0 + 1e-5) / reference, 1.0, 1e-3) << "seed 102, case " << k;
    EXPECT_NEAR(renyi(pair, 1.0 - 1e-5) / reference, 1.0, 1e-3) << "seed 102, case " << k;
  }
}

TEST(GaussianProperty, DeltaIsDecreasingConvexAndBetweenItsLimits) {
  RandomPairs random(103);
  for (int k = 0; k < kCases; ++k) {
    const WhitenedPair pair = random.pair(random.integer(1, 6));
    const double e1 = threshold(random, pair);
    const double e3 = e1 + random.log_uniform(1e-3, 3.0);
    const double t = random.uniform(0.1, 0.9);
    const double e2 = std::log((1.0 - t) * std::exp(e1) + t * std::exp(e3));
    const double d1 = delta(pair, e1);
    const double d2 = delta(pair, e2);
    const double d3 = delta(pair, e3);
    for (const auto& [eps, value] : {std::pair{e1, d1}, {e2, d2}, {e3, d3}}) {
      EXPECT_GE(value, std::max(0.0, -std::expm1(eps)) * (1.0 - 1e-14)) << "seed 103, case " << k;
      EXPECT_LE(value, 1.0);
    }
    EXPECT_LE(d2, d1 * (1.0 + 1e-10)) << "seed 103, case " << k;
    EXPECT_LE(d3, d2 * (1.0 + 1e-10)) << "seed 103, case " << k;
    EXPECT_LE(d2, ((1.0 - t) * d1 + t * d3) * (1.0 + 1e-10) + 1e-15) << "seed 103, case " << k;
  }
}

TEST(GaussianProperty, DirectionsAreLinkedByTheExchangeIdentity) {
  RandomPairs random(104);
  for (int k = 0; k < kCases; ++k) {
    const WhitenedPair pair = random.pair(random.integer(1, 6));
    const WhitenedPair other = swapped(pair);
    EXPECT_NEAR(delta(pair, 0.0), delta(other, 0.0), 1e-12) << "seed 104, case " << k;
    const double eps = threshold(random, pair);
    const double direct = delta(other, eps);
    const double linked = -std::expm1(eps) + std::exp(eps) * delta(pair, -eps);
    EXPECT_NEAR(direct, linked, 1e-11 * (1.0 + std::exp(eps))) << "seed 104, case " << k;
  }
}

TEST(GaussianProperty, OneDimensionAgreesWithTheClosedForm) {
  // {L > eps} is an interval or its complement; both probabilities are normal. Absolute accuracy
  // only: the difference cancels.
  const boost::math::normal normal;
  RandomPairs random(105);
  for (int k = 0; k < kCases; ++k) {
    const WhitenedPair pair = random.pair(1);
    const PrivacyLoss loss = privacy_loss(pair);
    if (loss.terms.empty()) continue;
    const double eps = std::clamp(threshold(random, pair), -30.0, 30.0);
    const PrivacyLoss::Term& term = loss.terms[0];
    const double a = term.a, b = term.b, constant = term.constant;
    const double discriminant = b * b - 4.0 * a * (constant - eps);
    if (discriminant <= 0.0 || std::abs(a) < 1e-7) continue;
    double low = (-b - std::sqrt(discriminant)) / (2.0 * a);
    double high = (-b + std::sqrt(discriminant)) / (2.0 * a);
    if (low > high) std::swap(low, high);
    const double deviation = std::sqrt(pair.ratio(0));
    const auto inside = [&](double shift, double scale) {
      return cdf(normal, (high - shift) / scale) - cdf(normal, (low - shift) / scale);
    };
    double p = inside(0.0, 1.0);
    double q = inside(pair.shift(0), deviation);
    if (a > 0.0) {
      p = 1.0 - p;
      q = 1.0 - q;
    }
    EXPECT_NEAR(delta(pair, eps), p - std::exp(eps) * q, 1e-9 * (1.0 + std::exp(eps)))
        << "seed 105, case " << k << ", eps " << eps;
  }
}

TEST(GaussianProperty, AgreesWithMonteCarlo) {
  // delta = E_P (1 - e^{eps - L})_+, a mean of numbers in [0, 1]. 5 standard errors on each of 60
  // pairs: false-alarm probability below 60 * 5.8e-7 = 3.5e-5; the seed is fixed.
  RandomPairs random(106);
  constexpr int draws = 40000;
  for (int k = 0; k < 60; ++k) {
    const Eigen::Index d = random.integer(1, 6);
    const WhitenedPair pair = random.pair(d);
    // Near the mean of L, so that the event is common and the standard error can be trusted.
    const PrivacyLoss quadratic = privacy_loss(pair);
    const double eps =
        quadratic.mean_p + random.uniform(-1.5, 0.5) * std::sqrt(quadratic.variance_p);
    double sum = 0.0;
    double squares = 0.0;
    for (int n = 0; n < draws; ++n) {
      double loss = 0.0;
      for (Eigen::Index i = 0; i < d; ++i) {
        const double z = random.normal();
        const double w = z - pair.shift(i);
        loss += 0.5 * (std::log(pair.ratio(i)) - z * z + w * w / pair.ratio(i));
      }
      const double value = std::max(0.0, -std::expm1(eps - loss));
      sum += value;
      squares += value * value;
    }
    const double mean = sum / draws;
    const double error = std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws);
    EXPECT_NEAR(delta(pair, eps), mean, 5.0 * error + 1e-9) << "seed 106, case " << k;
  }
}

TEST(GaussianProperty, EpsilonInvertsDeltaAndTprIsTheBestTest) {
  RandomPairs random(107);
  for (int k = 0; k < 1000; ++k) {
    const WhitenedPair pair = random.pair(random.integer(1, 5));
    const double target = random.log_uniform(1e-12, 0.5);
    const double eps = gaussian_epsilon(pair, Delta(target)).value.nats();
    const double reached = delta(pair, eps);
    if (eps > 0.0) {
      EXPECT_NEAR(reached / target, 1.0, 1e-6) << "seed 107, case " << k;
    } else {
      EXPECT_LE(reached, target) << "seed 107, case " << k;
    }
    const double fpr = random.log_uniform(1e-6, 0.99);
    const double tpr = gaussian_tpr(pair, fpr).value;
    EXPECT_GE(tpr, fpr * (1.0 - 1e-12)) << "seed 107, case " << k;
    for (const double e : {-2.0, -0.3, -0.01, 0.0, 0.01, 0.3, 2.0}) {
      EXPECT_LE(tpr, (delta(pair, e) + std::exp(e) * fpr) * (1.0 + 1e-9)) << "seed 107, case " << k;
    }
  }
}

}  // namespace
}  // namespace sfumato
