// Spec §11.4: simulated one-run audits of canaries hidden by known mechanisms.
#include "sfumato/audit/one_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "sfumato/audit/canary_guesses.hpp"
#include "sfumato/audit/one_run_gdp.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "support/violations.hpp"

namespace sfumato {
namespace {

constexpr int kAudits = 2000;
constexpr double kAlpha = 0.05;
constexpr double kFalseAlarm = 1e-6;
constexpr unsigned kSeed = 20230807;

struct Canaries {
  std::vector<double> scores;
  std::vector<std::uint8_t> included;
};

template <class Score>
Canaries draw(std::mt19937_64& engine, std::size_t count, Score&& score) {
  Canaries canaries;
  for (std::size_t i = 0; i < count; ++i) {
    const bool in = std::bernoulli_distribution(0.5)(engine);
    canaries.included.push_back(in);
    canaries.scores.push_back(score(in));
  }
  return canaries;
}

TEST(OneRunCoverage, OfRandomisedResponseAndTheGaussianMechanism) {
  const int allowed = violations_allowed(kAudits, kAlpha, kFalseAlarm);
  std::mt19937_64 engine(kSeed);
  std::normal_distribution<double> normal;
  const double eps = 1.0, mu = 1.0;
  std::bernoulli_distribution honest(1.0 / (1.0 + std::exp(-eps)));
  const Delta delta(1e-3);
  int response = 0, gaussian = 0, if_gdp = 0, nothing = 0;
  for (int i = 0; i < kAudits; ++i) {
    const Canaries coins =
        draw(engine, 200, [&](bool in) { return honest(engine) == in ? 1.0 : 0.0; });
    const auto seed = static_cast<std::uint64_t>(i);
    // As the mechanism answers, so the attacker guesses: the worst case of the bound.
    const CanaryGuesses all = guess_canaries(coins.scores, coins.included, 200, seed);
    response += one_run_epsilon_lower_bound(all, Delta(0.0), 1.0 - kAlpha).value.nats() > eps;
    const Canaries noisy =
        draw(engine, 200, [&](bool in) { return normal(engine) + (in ? mu : 0.0); });
    const CanaryGuesses some = guess_canaries(noisy.scores, noisy.included, 40, seed);
    gaussian +=
        one_run_epsilon_lower_bound(some, delta, 1.0 - kAlpha).value > gdp_epsilon(mu, delta);
    if_gdp += one_run_mu_lower_bound(some, 1.0 - kAlpha).value > mu;
    const Canaries blind = draw(engine, 200, [&](bool) { return normal(engine); });
    const CanaryGuesses lucky = guess_canaries(blind.scores, blind.included, 60, seed);
    nothing += one_run_epsilon_lower_bound(lucky, Delta(0.0), 1.0 - kAlpha).value.nats() > 0.0;
  }
  EXPECT_LE(response, allowed) << "seed " << kSeed;
  EXPECT_LE(gaussian, allowed) << "seed " << kSeed;
  EXPECT_LE(if_gdp, allowed) << "seed " << kSeed;
  EXPECT_LE(nothing, allowed) << "seed " << kSeed;
  std::printf("response %d, Gaussian %d, if GDP %d, nothing hidden %d of %d\n", response, gaussian,
              if_gdp, nothing, kAudits);
}

TEST(OneRunPower, GrowsWithTheNumberOfCanaries) {
  double last = 0.0;
  for (const std::uint64_t m : {20u, 100u, 1000u, 10000u}) {  // three of four guesses are right
    const double eps =
        one_run_epsilon_lower_bound({m, m, 3 * m / 4}, Delta(0.0), 0.95).value.nats();
    EXPECT_GT(eps, last);
    EXPECT_LT(eps, std::log(3.0));
    last = eps;
  }
  EXPECT_GT(last, std::log(3.0) - 0.05);
}

/// The argument for choosing the best epsilon of the Gaussian curve: p falls with v above the mode.
TEST(OneRunPValue, FallsWithCorrectGuessesAboveTheMode) {
  std::mt19937_64 engine(kSeed + 1);
  for (int i = 0; i < 1000; ++i) {
    const auto r = std::uniform_int_distribution<std::uint64_t>(1, 300)(engine);
    const double eps = std::uniform_real_distribution<double>(0.0, 3.0)(engine);
    const double delta = std::pow(10.0, std::uniform_real_distribution<double>(-8.0, -1.0)(engine));
    const double q = 1.0 / (1.0 + std::exp(-eps));
    const auto first = static_cast<std::uint64_t>(std::ceil((static_cast<double>(r) + 1.0) * q));
    double last = 1.0;
    for (std::uint64_t v = first; v <= r; ++v) {
      const double p = one_run_p_value({2 * r, r, v}, Epsilon(eps), Delta(delta));
      ASSERT_LE(p, last * (1.0 + 1e-9))
          << "r " << r << ", v " << v << ", eps " << eps << ", seed " << kSeed + 1;
      last = p;
    }
  }
}

}  // namespace
}  // namespace sfumato
