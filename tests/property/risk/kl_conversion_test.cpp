#include "sfumato/risk/kl_conversion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace sfumato {
namespace {

constexpr int kCases = 2000;
constexpr unsigned kSeed = 20230723;
// The bounds carry an allowance of 1e-12 for rounding; two of them differ by that much at random.
constexpr double kRounding = 3e-12;

/// Seeded cases; a failure prints the seed and the case.
class KlConversion : public ::testing::Test {
 protected:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  double any_kl() { return log_uniform(1e-300, 1e4); }
  double any_epsilon() {
    const double kind = uniform(0.0, 1.0);
    return kind < 0.1 ? 0.0 : kind < 0.5 ? log_uniform(1e-12, 1e3) : uniform(0.0, 10.0);
  }

 private:
  std::mt19937_64 engine_{kSeed};
};

double forward(double kl, double epsilon) {
  return delta_from_kl_forward(Nats(kl), Epsilon(epsilon)).value.probability();
}
double reverse(double kl, double epsilon) {
  return delta_from_kl_reverse(Nats(kl), Epsilon(epsilon)).value.probability();
}

double kl_bernoulli(double x, double y) {
  const double hit = x > 0.0 ? x * std::log(x / y) : 0.0;
  const double miss = x < 1.0 ? (1.0 - x) * std::log((1.0 - x) / (1.0 - y)) : 0.0;
  return hit + miss;
}

TEST_F(KlConversion, MonotoneInKlAndEpsilon) {
  for (int i = 0; i < kCases; ++i) {
    const double kl = any_kl();
    const double more_kl = kl * log_uniform(1.0, 10.0);
    const double epsilon = any_epsilon();
    const double more_epsilon = epsilon + any_epsilon();
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i << ": kl " << kl << ", "
                                      << more_kl << " eps " << epsilon << ", " << more_epsilon);
    for (const auto& bound : {forward, reverse}) {
      const double delta = bound(kl, epsilon);
      EXPECT_LE(delta, bound(more_kl, epsilon) * (1.0 + kRounding));
      EXPECT_GE(delta, bound(kl, more_epsilon) * (1.0 - kRounding));
      EXPECT_LE(delta, 1.0);
      EXPECT_GT(delta, 0.0);
    }
  }
}

TEST_F(KlConversion, SharpBoundIsBelowPinskerAndBretagnolleHuber) {
  for (int i = 0; i < kCases; ++i) {
    const Nats kl(any_kl());
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": kl " << kl.value());
    const double sharp = forward(kl.value(), 0.0);
    EXPECT_LE(sharp, pinsker_bound(kl).value * (1.0 + kRounding));
    EXPECT_LE(sharp, bretagnolle_huber_bound(kl).value * (1.0 + kRounding));
    EXPECT_NEAR(reverse(kl.value(), 0.0), sharp, kRounding * sharp);
    const double tv = total_variation_from_kl(kl).value;
    EXPECT_LE(tv, sharp);
    EXPECT_GE(tv, sharp * (1.0 - kRounding));
  }
}

TEST_F(KlConversion, ReverseStaysAboveOneMinusExpOfKl) {
  for (int i = 0; i < kCases; ++i) {
    const double kl = any_kl();
    const double epsilon = any_epsilon();
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": kl " << kl << " eps " << epsilon);
    EXPECT_GE(reverse(kl, epsilon), -std::expm1(-kl));
  }
}

/// max over x of x - e^eps y(x) (or of y - e^eps x(y)) by ternary search on the boundary of
/// { kl(x||y) <= kl }: the search of Spec §4.2, which comes from below.
double primal_search(double kl, double epsilon, bool is_forward) {
  const auto divergence = [&](double outer, double inner) {
    return is_forward ? kl_bernoulli(outer, inner) : kl_bernoulli(inner, outer);
  };
  const auto value = [&](double outer) {
    double low = 0.0;
    double high = outer;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (divergence(outer, middle) <= kl ? high : low) = middle;
    }
    return outer - std::exp(epsilon) * high;  // feasible: kl at `high` is at most kl
  };
  double left = 1e-9;
  double right = 1.0 - 1e-12;
  for (int step = 0; step < 80; ++step) {
    const double a = left + (right - left) / 3.0;
    const double b = right - (right - left) / 3.0;
    (value(a) < value(b) ? left : right) = value(a) < value(b) ? a : b;
  }
  return std::max(value(0.5 * (left + right)), 0.0);
}

TEST_F(KlConversion, AgreesWithThePrimalSearchFromAbove) {
  for (int i = 0; i < 1000; ++i) {
    const double kl = log_uniform(1e-4, 8.0);
    const double epsilon = uniform(0.0, 1.0) < 0.2 ? 0.0 : uniform(0.0, 4.0);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": kl " << kl << " eps " << epsilon);
    const double forward_search = primal_search(kl, epsilon, true);
    const double reverse_search = primal_search(kl, epsilon, false);
    // The direct kl cancels: at kl = 1e-4 the search itself is good to 1e-11.
    EXPECT_GE(forward(kl, epsilon), forward_search - 1e-11);
    EXPECT_GE(reverse(kl, epsilon), reverse_search - 1e-11);
    EXPECT_LE(forward(kl, epsilon), forward_search + 1e-7);
    EXPECT_LE(reverse(kl, epsilon), reverse_search + 1e-7);
  }
}

TEST_F(KlConversion, NoPairOfTwoPointDistributionsExceedsIt) {
  for (int i = 0; i < kCases; ++i) {
    const double x = uniform(0.0, 1.0);
    const double y = uniform(0.0, 1.0);
    const double kl = kl_bernoulli(x, y);
    const double epsilon = log_uniform(1e-3, 5.0);
    const double e = std::exp(epsilon);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i << ": x " << x << " y "
                                      << y << " eps " << epsilon);
    EXPECT_GE(forward(kl, epsilon) + 1e-13, std::max(x - e * y, (1.0 - x) - e * (1.0 - y)));
    EXPECT_GE(reverse(kl, epsilon) + 1e-13, std::max(y - e * x, (1.0 - y) - e * (1.0 - x)));
  }
}

TEST_F(KlConversion, TwoPointDistributionsAttainIt) {
  // At the maximum the gradients of objective and constraint are parallel, which fixes the epsilon
  // at which a given pair (x, y) is the worst one.
  int attained = 0;
  for (int i = 0; i < 2 * kCases; ++i) {
    const double y = uniform(1e-3, 0.999);
    const double x = uniform(1e-3, 0.999);
    if (std::abs(x - y) < 1e-3) continue;
    const double odds = std::log(x / (1.0 - x)) - std::log(y / (1.0 - y));
    const double kl = kl_bernoulli(x, y);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << " x " << x << " y " << y);
    if (x > y) {
      const double e = (x - y) / (y * (1.0 - y) * odds);
      if (e < 1.0) continue;
      EXPECT_NEAR(forward(kl, std::log(e)), x - e * y, 1e-11);
    } else {
      const double e = -odds * y * (1.0 - y) / (y - x);
      if (e < 1.0) continue;
      EXPECT_NEAR(reverse(kl, std::log(e)), y - e * x, 1e-11);
    }
    ++attained;
  }
  EXPECT_GE(attained, 1000);
}

TEST_F(KlConversion, EpsilonIsTheInverseOfDelta) {
  for (int i = 0; i < kCases; ++i) {
    const Nats kl(log_uniform(1e-20, 50.0));
    const double wanted = log_uniform(1e-9, 1.0);
    const Delta delta(wanted);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i << ": kl " << kl.value()
                                      << " delta " << wanted);
    const double eps_forward = epsilon_from_kl_forward(kl, delta).value.nats();
    ASSERT_LT(eps_forward, 1e300);
    EXPECT_LE(forward(kl.value(), eps_forward), wanted);
    if (eps_forward > 1e-6) {
      EXPECT_GT(forward(kl.value(), eps_forward * (1.0 - 1e-9) - 1e-9), wanted * (1.0 - 1e-9));
    }
    const double eps_reverse = epsilon_from_kl_reverse(kl, delta).value.nats();
    if (std::isinf(eps_reverse)) {
      EXPECT_LE(wanted, -std::expm1(-kl.value()) * (1.0 + kRounding));
    } else {
      EXPECT_LE(reverse(kl.value(), eps_reverse), wanted);
      EXPECT_GE(wanted, -std::expm1(-kl.value()));
    }
  }
}

TEST_F(KlConversion, TprIsTheLargestRateAtThisKl) {
  for (int i = 0; i < kCases; ++i) {
    const double kl = log_uniform(1e-6, 20.0);
    const double rate = uniform(0.0, 1.0) < 0.5 ? uniform(1e-3, 0.99) : log_uniform(1e-12, 0.5);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": kl " << kl << " rate " << rate);
    const double up = tpr_from_kl_forward(Nats(kl), rate).value;
    const double down = tpr_from_kl_reverse(Nats(kl), rate).value;
    EXPECT_GE(up, rate);
    EXPECT_GE(down, rate);
    // The direct kl is a sum of terms of size at most 30 that may cancel.
    const double noise = 1e-14 * (1.0 - std::log(rate));
    if (up < 1.0) {
      EXPECT_GE(kl_bernoulli(up, rate), kl - noise);
      const double less = up - 1e-6 * (up - rate);
      EXPECT_LE(kl_bernoulli(less, rate), kl + noise);
    }
    if (down < 1.0 - 1e-9) {
      EXPECT_GE(kl_bernoulli(rate, down), kl * (1.0 - 1e-6) - noise);
      const double less = down - 1e-6 * (down - rate);
      EXPECT_LE(kl_bernoulli(rate, less), kl + noise);
    }
  }
}

TEST_F(KlConversion, TradeOffCurveAndDeltaTellTheSameStory) {
  // tpr - e^eps fpr <= delta(eps) for every rate, with equality at the best rate.
  for (int i = 0; i < 1000; ++i) {
    const double kl = log_uniform(1e-3, 10.0);
    const double epsilon = uniform(0.0, 5.0);
    const double rate = log_uniform(1e-9, 1.0);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i << ": kl " << kl
                                      << " eps " << epsilon << " rate " << rate);
    const double e = std::exp(epsilon);
    EXPECT_LE(tpr_from_kl_forward(Nats(kl), rate).value - e * rate, forward(kl, epsilon) + 1e-11);
    EXPECT_LE(tpr_from_kl_reverse(Nats(kl), rate).value - e * rate, reverse(kl, epsilon) + 1e-11);
  }
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST_F(KlConversion, HoldsForNormalDistributionsWithEqualCovariance) {
  for (int i = 0; i < kCases; ++i) {
    const double mu = log_uniform(1e-4, 10.0);
    const double epsilon = any_epsilon();
    if (epsilon > 700.0) continue;
    SCOPED_TRACE(::testing::Message()
                 << "seed " << kSeed << " case " << i << ": mu " << mu << " eps " << epsilon);
    const double kl = 0.5 * mu * mu;
    const double exact = normal_cdf(0.5 * mu - epsilon / mu) -
                         std::exp(epsilon) * normal_cdf(-0.5 * mu - epsilon / mu);
    EXPECT_GE(forward(kl, epsilon), exact - 1e-15);
    EXPECT_GE(reverse(kl, epsilon), exact - 1e-15);
    EXPECT_GE(total_variation_from_kl(Nats(kl)).value, std::erf(mu / std::sqrt(8.0)));
    const double threshold = uniform(-5.0, 5.0);
    const double fpr = normal_cdf(-threshold);
    const double tpr = normal_cdf(mu - threshold);
    EXPECT_GE(tpr_from_kl_forward(Nats(kl), fpr).value, tpr - 1e-15);
    EXPECT_GE(tpr_from_kl_reverse(Nats(kl), fpr).value, tpr - 1e-15);
  }
}

}  // namespace
}  // namespace sfumato
