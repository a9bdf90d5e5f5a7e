// Spec §6.1 on grids against exact distributions, over random Ornstein-Uhlenbeck pairs on the line.
#include "sfumato/divergence/fokker_planck_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "support/fokker_planck_problems.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Process {
  double rate, target, noise, mean, variance;
  [[nodiscard]] StartedDiffusion started() const {
    return testing::ornstein_uhlenbeck(rate, target, noise, mean, variance);
  }
  [[nodiscard]] OuDistribution exact() const {
    return OuDistribution(
        {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target), Isotropic{noise, 1}},
        {VectorXd::Constant(1, mean), Isotropic{variance, 1}});
  }
};

TEST(FokkerPlanckPairProperty, MatchesTheExactEntropyAndStaysBelowTheBounds) {
  int outside = 0;
  constexpr int kCases = 150;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomPairs random(seed);
    const Process p{random.log_uniform(0.3, 3.0), random.normal(), random.log_uniform(0.3, 2.0),
                    random.normal(), random.log_uniform(0.1, 1.0)};
    Process q = p;
    q.rate *= random.log_uniform(0.7, 1.4);
    q.target += 0.4 * random.normal();
    if (random.integer(0, 1) == 0) q.noise *= random.log_uniform(0.7, 1.4);
    if (random.integer(0, 1) == 0) {
      q.mean += 0.2 * random.normal();
      q.variance *= random.log_uniform(0.8, 1.2);
    }
    const double time = random.log_uniform(0.05, 5.0);
    FokkerPlanckOptions options;
    const bool chosen = seed % 10 == 0;
    options.cells_per_axis = chosen ? 0 : 240;
    options.threads = 1;
    const auto solution = solve_fokker_planck_pair(p.started(), q.started(), {time}, options);
    const WhitenedPair pair = whiten_at(p.exact(), q.exact(), time);
    const double exact[] = {gaussian_kl(pair).value.value(),
                            gaussian_kl(swapped(pair)).value.value()};
    const PairDirection* found[] = {&solution.rows.at(0).forward, &solution.rows.at(0).reverse};
    for (int side = 0; side < 2; ++side) {
      const GridEstimate& kl = found[side]->kl;
      EXPECT_NEAR(kl.value, exact[side], 5.0 * kl.error + 2e-5);
      if (solution.peclet_number < 1.0) {
        EXPECT_NEAR(kl.value / exact[side], 1.0, chosen ? 2e-4 : 5e-3);
      }
      if (std::abs(kl.value - exact[side]) > kl.error + 1e-9) ++outside;
      for (const GridEstimate* bound :
           {&found[side]->primal_bound, &found[side]->dual_bound, &found[side]->minimum_bound}) {
        EXPECT_GE(bound->value + 2.0 * bound->error + 1e-9, exact[side]);
      }
    }
    EXPECT_LT(solution.mass_error, 1e-12);
  }
  // The reported error is the size of the last correction: cautious, and almost always enough.
  EXPECT_LE(outside, kCases / 20);
}

}  // namespace
}  // namespace sfumato
