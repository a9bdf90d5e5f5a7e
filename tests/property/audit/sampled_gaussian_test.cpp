// An audit of the sampled Gaussian mechanism itself, in one dimension, by the exact attack: the likelihood ratio. What it shows is true
// with the stated confidence, so it must not exceed the accountant's upper end; and as the attack is the best there is, it comes close.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {
namespace {

constexpr std::uint64_t kRuns = 1'000'000;
// Every audit below may exceed the truth with at most this probability, by Clopper-Pearson. There are 9 of them: a false
// alarm of this file has probability 9e-6 at most, over the choice of the seed.
constexpr double kAlpha = 1e-6;
constexpr unsigned kSeed = 20260717;

struct Setting {
  double q, sigma;
  int steps;
  double delta;
};

/// Runs of the mechanism with the record (`member`) or without it: the total loss of what is released, in the direction `remove`.
std::vector<double> losses(const Setting& at, bool member, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  std::bernoulli_distribution sampled(at.q);
  const double m = 1.0 / at.sigma;
  std::vector<double> result(kRuns);
  for (double& total : result) {
    total = 0.0;
    for (int i = 0; i < at.steps; ++i) {
      const double z = normal(engine) + (member && sampled(engine) ? m : 0.0);
      total += std::log1p(at.q * std::expm1(m * z - 0.5 * m * m));
    }
  }
  return result;
}

std::uint64_t above(const std::vector<double>& values, double threshold) {
  std::uint64_t count = 0;
  for (const double value : values) count += value > threshold;
  return count;
}

TEST(SampledGaussianAudit, ShowsNoMoreThanTheAccountantAndNearlyAsMuch) {
  std::mt19937_64 engine(kSeed);
  for (const Setting& at : std::vector<Setting>{{0.5, 1.0, 1, 1e-2},
                                                {0.2, 0.7, 3, 1e-2},
                                                {0.1, 1.0, 10, 1e-2},
                                                {1.0 - 1e-9, 2.0, 4, 1e-2}}) {
    const TotalLoss remove{{SampledGaussian{at.q, 1.0 / at.sigma, static_cast<double>(at.steps)}}};
    const EpsilonEnclosure forward = epsilon_of(remove, at.delta);
    const EpsilonEnclosure backward = epsilon_of(exchanged(remove), at.delta);
    const double proven = std::max(forward.hi, backward.hi);
    // The best event of delta(eps) is {T > eps}: the threshold is fixed before the runs.
    const std::vector<double> with = losses(at, true, engine), without = losses(at, false, engine);
    const TestCounts counts{above(with, forward.lo), kRuns, above(without, forward.lo), kRuns};
    const RateBounds rates = rate_bounds(counts, kAlpha);
    const double shown = epsilon_lower(rates, Delta(at.delta));
    EXPECT_LE(shown, proven) << "q " << at.q << ", steps " << at.steps << ", seed " << kSeed;
    EXPECT_GT(shown, 0.85 * proven) << "q " << at.q << ", steps " << at.steps;
    // delta at an epsilon half as large, by the event that belongs to it.
    const double eps = 0.5 * proven;
    const TestCounts half{above(with, eps), kRuns, above(without, eps), kRuns};
    const double delta_shown = delta_lower(rate_bounds(half, kAlpha), Epsilon(eps));
    const double delta_proven =
        std::max(delta_of(remove, eps).hi(), delta_of(exchanged(remove), eps).hi());
    EXPECT_LE(delta_shown, delta_proven);
    EXPECT_GT(delta_shown, 0.85 * delta_proven) << "q " << at.q << ", steps " << at.steps;
  }
}

TEST(SampledGaussianAudit, RefutesAShuffledRunThatIsAccountedAsPoisson) {
  // One epoch of 20 batches, the record in exactly one of them. An attacker who knows the batches' order sees noise 1 once; Poisson
  // sampling at rate 1/20 would promise far less.
  const double sigma = 1.0, delta = 1e-2;
  const double wrong = epsilon_of({{SampledGaussian{0.05, 1.0 / sigma, 20.0}}}, delta).hi;
  TotalLoss shuffled;  // Spec §19.6: mu = sqrt(epochs) / sigma
  shuffled.mu_squared = 1.0 / (sigma * sigma);
  const double proven = epsilon_of(shuffled, delta).hi;
  std::mt19937_64 engine(kSeed + 1);
  std::normal_distribution<double> normal;
  std::vector<double> with(kRuns), without(kRuns);
  for (double& z : with) z = normal(engine) + 1.0 / sigma;
  for (double& z : without) z = normal(engine);
  const double cut =
      proven * sigma + 0.5 / sigma;  // z where the loss z/sigma - 1/(2 sigma^2) is epsilon
  const TestCounts counts{above(with, cut), kRuns, above(without, cut), kRuns};
  const double shown = epsilon_lower(rate_bounds(counts, kAlpha), Delta(delta));
  EXPECT_GT(shown, 1.5 * wrong);
  EXPECT_LE(shown, proven);
}

}  // namespace
}  // namespace sfumato
