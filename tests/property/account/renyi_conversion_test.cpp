#include "sfumato/account/accountant/renyi_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace sfumato {
namespace {

constexpr int kCases = 2000;
constexpr unsigned kSeed = 4711;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// delta of N(0, 1) and N(mu, 1) (Spec §3.1).
double exact_delta(double mu, double epsilon) {
  return normal_cdf(0.5 * mu - epsilon / mu) -
         std::exp(epsilon) * normal_cdf(-0.5 * mu - epsilon / mu);
}

class RenyiConversion : public testing::Test {
 protected:
  double log_uniform(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine_));
  }

 private:
  std::mt19937_64 engine_{kSeed};
};

TEST_F(RenyiConversion, EveryOrderHoldsForNormalDistributions) {
  for (int i = 0; i < kCases; ++i) {
    const double mu = log_uniform(1e-2, 10.0);
    const double epsilon = log_uniform(1e-3, 50.0);
    const double order = 1.0 + log_uniform(1e-6, 1e4);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << i << ": mu " << mu << " eps "
                                    << epsilon << " order " << order);
    const Nats renyi(0.5 * order * mu * mu);
    const double delta = delta_from_renyi(renyi, order, Epsilon(epsilon)).value.probability();
    EXPECT_GE(delta, exact_delta(mu, epsilon) - 1e-15);
    if (delta < 1.0 && delta > 1e-300) {
      const double back = epsilon_from_renyi(renyi, order, Delta(delta)).value.nats();
      EXPECT_NEAR(back, epsilon, 1e-12 * (1.0 + epsilon + renyi.value() + 40.0 / (order - 1.0)));
    }
  }
}

TEST_F(RenyiConversion, BestOrderBeatsEveryOtherAndHolds) {
  for (int i = 0; i < kCases; ++i) {
    const double mu = log_uniform(1e-2, 5.0);
    const double wanted = log_uniform(1e-12, 0.5);
    const double order = 1.0 + log_uniform(1e-2, 1e4);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << i << ": mu " << mu
                                    << " delta " << wanted << " order " << order);
    const RenyiCurve curve = [mu](double a) { return Nats(0.5 * a * mu * mu); };
    const double best = epsilon_from_renyi_curve(curve, Delta(wanted)).value.nats();
    EXPECT_LE(best, epsilon_from_renyi(curve(order), order, Delta(wanted)).value.nats() + 1e-8);
    EXPECT_LE(exact_delta(mu, best), wanted + 1e-15);
  }
}

TEST_F(RenyiConversion, MonotoneInDivergenceAndEpsilon) {
  for (int i = 0; i < kCases; ++i) {
    const double renyi = log_uniform(1e-9, 100.0);
    const double order = 1.0 + log_uniform(1e-6, 1e4);
    const double epsilon = log_uniform(1e-3, 50.0);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << i << ": renyi " << renyi
                                    << " eps " << epsilon << " order " << order);
    const auto delta = [order](double d, double e) {
      return delta_from_renyi(Nats(d), order, Epsilon(e)).value.probability();
    };
    EXPECT_LE(delta(renyi, epsilon), delta(renyi * 1.5, epsilon) * (1.0 + 1e-9));
    EXPECT_GE(delta(renyi, epsilon), delta(renyi, epsilon * 1.5) * (1.0 - 1e-9));
  }
}

}  // namespace
}  // namespace sfumato
