// Coverage of the intervals that Monte Carlo estimates report (Spec §12.1).
#include "sfumato/divergence/path_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/ou_line.hpp"

namespace sfumato {
namespace {

using testing::chain_path_kl;
using testing::LineDistribution;
using testing::OuLine;

// The 95 % interval of 500 paths against the chain's exact mean, 2,000 times: the number of hits is
// binomial. 0.95 +- 5 standard deviations is 0.9256 .. 0.9744; the skewness of I costs about 0.005, for
// which the lower end is 0.92. False alarm below 1e-5 for the three intervals together.
TEST(PathEstimateProperty, IntervalsCover) {
  const OuLine p{1.0, 0.0, 1.0}, q{1.5, 0.3, 1.0};
  const LineDistribution start{0.5, 0.0};
  const double coarse = chain_path_kl(p, q, start, 0.1, 10);
  const double fine = chain_path_kl(p, q, start, 0.05, 20);
  constexpr int kRepetitions = 2000;
  int hits[3] = {0, 0, 0};
  Observer silent;
  const Diffusion first = p.diffusion(), second = q.diffusion();
  for (std::uint64_t run = 0; run < kRepetitions; ++run) {
    PathEstimateOptions options;
    options.simulation = {500, {20, run}, 1};
    const PathBoundEstimate bound =
        path_estimate(first, second, start.distribution(), {{1.0}, 0.1}, options, silent)
            .value.bounds[0];
    const auto count = [&](int which, const MonteCarloMean& mean, double truth) {
      const ConfidenceInterval found = interval(mean, 0.95);
      if (found.low <= truth && truth <= found.high) ++hits[which];
    };
    count(0, bound.at_step, coarse);
    count(1, bound.at_half_step, fine);
    count(2, bound.extrapolated, 2.0 * fine - coarse);
  }
  for (const int hit : hits) {
    EXPECT_GT(hit, 0.92 * kRepetitions);
    EXPECT_LT(hit, 0.9744 * kRepetitions);
  }
}

// The same against random chains: the mean over 2,000 paths is within 5.5 standard errors of the exact
// one. False alarm: 1,000 comparisons of 4e-8, doubled for skewness, below 1e-4.
TEST(PathEstimateProperty, RandomPairsAgreeWithTheirChains) {
  constexpr std::uint64_t kSeed = 31;
  Observer silent;
  for (std::uint64_t run = 0; run < 1000; ++run) {
    double u[6];
    Stream(StreamKey(kSeed, Purpose::bootstrap)).fill_uniform(run, 0, u);
    const OuLine p{0.2 + 2.0 * u[0], u[1], 0.3 + u[2]};
    const OuLine q{0.2 + 2.0 * u[3], 1.0 + u[4], p.variance};
    const LineDistribution start{u[5], 0.5 * u[0]};
    PathEstimateOptions options;
    options.simulation = {2000, {kSeed, run}, 1};
    options.halve = false;
    const MonteCarloMean mean = path_estimate(p.diffusion(), q.diffusion(), start.distribution(),
                                              {{1.0}, 0.1}, options, silent)
                                    .value.bounds[0]
                                    .at_step;
    ASSERT_NEAR(mean.value, chain_path_kl(p, q, start, 0.1, 10), 5.5 * mean.standard_error)
        << "seed " << kSeed << " case " << run;
  }
}

}  // namespace
}  // namespace sfumato
