// Spec §14, item 3: every bound is on the right side of the exact value, for random normal pairs.
#include "sfumato/risk/risk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/accountant/renyi_conversion.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/risk/kl_conversion.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using testing::RandomPairs;

constexpr int kCases = 1500;
constexpr double kRounding = 1e-10;  // of the exact values; the bounds are rounded up

TEST(RiskProperty, BoundsFromTheKlAreNeverBelowTheExactRisk) {
  RandomPairs random(201);
  for (int k = 0; k < kCases; ++k) {
    const Risk exact = Risk::exact(random.pair(random.integer(1, 6)));
    const Risk bound = Risk::from_kl(exact.kl(Direction::forward), exact.kl(Direction::reverse));
    const double tv = exact.advantage().value * (1.0 - kRounding);
    EXPECT_LE(tv, bound.advantage().value) << "seed 201, case " << k;
    for (const Direction direction : kDirections) {
      const Nats kl = exact.kl(direction).value;
      EXPECT_LE(tv, pinsker_bound(kl).value) << "seed 201, case " << k;
      EXPECT_LE(tv, bretagnolle_huber_bound(kl).value) << "seed 201, case " << k;
      EXPECT_LE(tv, total_variation_from_kl(kl).value) << "seed 201, case " << k;
      const Epsilon eps(random.log_uniform(1e-3, 20.0));
      EXPECT_LE(exact.delta(direction, eps).value.probability() * (1.0 - kRounding),
                bound.delta(direction, eps).value.probability())
          << "seed 201, case " << k << ", eps " << eps.nats();
      const Delta delta(random.log_uniform(1e-8, 0.5));
      EXPECT_LE(exact.epsilon(direction, delta).value.nats() * (1.0 - kRounding),
                bound.epsilon(direction, delta).value.nats())
          << "seed 201, case " << k << ", delta " << delta.probability();
    }
    const double fpr = random.log_uniform(1e-5, 0.99);
    EXPECT_LE(exact.tpr(fpr).value * (1.0 - 1e-8), bound.tpr(fpr).value)
        << "seed 201, case " << k << ", fpr " << fpr;
  }
}

TEST(RiskProperty, EveryRenyiOrderBoundsTheExactDelta) {
  RandomPairs random(202);
  for (int k = 0; k < kCases; ++k) {
    const Risk exact = Risk::exact(random.pair(random.integer(1, 6)));
    const double order = 1.0 + random.log_uniform(1e-3, 1e3);
    const Epsilon eps(random.log_uniform(1e-3, 20.0));
    const Delta delta(random.log_uniform(1e-10, 0.5));
    for (const Direction direction : kDirections) {
      const Nats renyi = exact.renyi(direction, order)->value;
      EXPECT_LE(exact.delta(direction, eps).value.probability() * (1.0 - kRounding),
                delta_from_renyi(renyi, order, eps).value.probability())
          << "seed 202, case " << k << ", order " << order;
      EXPECT_LE(exact.epsilon(direction, delta).value.nats() * (1.0 - kRounding),
                epsilon_from_renyi(renyi, order, delta).value.nats())
          << "seed 202, case " << k << ", order " << order;
    }
  }
}

}  // namespace
}  // namespace sfumato
