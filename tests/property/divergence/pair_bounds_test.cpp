// Every bound of a pair is at least the exact KL, in both directions, at finite times and at last.
#include "sfumato/divergence/pair_bounds.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using testing::RandomPair;

TEST(PairBounds, NoneIsBelowTheExactValue) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    RandomPair random(seed);
    const Eigen::Index d = random.integer(1, 3);
    OuPair pair =
        random.pair(d, seed % 2 == 0 ? RandomPair::NoiseOf::equal : RandomPair::NoiseOf::unequal,
                    RandomPair::StartOf::common);
    if (seed % 3 == 0) {  // as the convexity constants need it
      pair.p.noise = Isotropic{random.log_uniform(0.1, 10.0), d};
      pair.q.noise = seed % 2 == 0 ? pair.p.noise : Isotropic{random.log_uniform(0.1, 10.0), d};
    }
    if (seed % 5 == 0) {
      for (OuProcess* process : {&pair.p, &pair.q}) {
        process->curvature = process->curvature.diagonal().asDiagonal().toDenseMatrix();
      }
    }
    const double time = seed % 7 == 0 ? kInf : random.log_uniform(0.01, 10.0);
    const std::vector<PairBound> rows = closed_form_bounds(linear_pair(pair), time);
    ASSERT_EQ(rows.front().method, BoundMethod::exact);
    const PairBound& exact = rows.front();
    for (const PairBound& bound : rows) {
      if (bound.method == BoundMethod::exact) continue;
      for (const auto member : {&PairBound::forward, &PairBound::reverse}) {
        if (!(exact.*member).reason.empty() || !(bound.*member).reason.empty()) continue;
        const double truth = (exact.*member).kl.value.value();
        EXPECT_GE((bound.*member).kl.value.value(), truth * (1.0 - 1e-9) - 1e-12)
            << "seed " << seed << ", " << name(bound.method) << ", time " << time;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace sfumato
