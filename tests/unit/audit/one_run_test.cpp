#include "sfumato/audit/one_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/audit/one_run_fdp.hpp"

namespace sfumato {
namespace {

TEST(OneRunPValue, MatchesGoldenValuesFromAbove) {
  const double p = one_run_p_value({1000, 100, 75}, Epsilon(0.5), Delta(1e-4));
  EXPECT_GE(p, 0.01458720765135130064134);
  EXPECT_NEAR(p, 0.0145872076513513, 1e-10);
}

TEST(OneRunPValue, Edges) {
  EXPECT_EQ(one_run_p_value({10, 10, 0}, Epsilon(0.0), Delta(0.0)), 1.0);
  EXPECT_EQ(one_run_p_value({10, 0, 0}, Epsilon(1.0), Delta(0.1)), 1.0);
  EXPECT_EQ(one_run_p_value({10, 10, 10}, Epsilon(HUGE_VAL), Delta(0.0)), 1.0);
  EXPECT_NEAR(one_run_p_value({10, 10, 10}, Epsilon(0.0), Delta(0.0)), 0x1p-10, 1e-12);
  EXPECT_EQ(one_run_p_value({10, 10, 9}, Epsilon(0.0), Delta(1.0)), 1.0);
  // P[B = v - 1] underflows, what lies below it does not.
  const double p = one_run_p_value({3000, 3000, 3000}, Epsilon(0.0), Delta(1e-9));
  EXPECT_GT(p, 1e-9);
  EXPECT_LT(p, 1e-8);
}

TEST(OneRunEpsilon, KeepsTheEndThatIsRejected) {
  const CanaryGuesses guesses{1000, 100, 75};
  const double eps = one_run_epsilon_lower_bound(guesses, Delta(1e-4), 0.95).value.nats();
  EXPECT_NEAR(eps, 0.6729846641074199, 1e-7);
  EXPECT_LT(one_run_p_value(guesses, Epsilon(eps), Delta(1e-4)), 0.05);
  EXPECT_EQ(one_run_epsilon_lower_bound({100, 100, 50}, Delta(0.0), 0.95).value.nats(), 0.0);
}

TEST(OneRunGdp, IsBelowWhatManyCanariesTellAndAboveNothing) {
  // mu = 1 and all guessed: P[right] = Phi(1/2) = 0.69
  const CanaryGuesses guesses{200, 200, 170};
  const double mu = one_run_mu_lower_bound(guesses, 0.95).value;
  EXPECT_GT(mu, 0.1);
  EXPECT_LT(mu, 2.1);  // 2 Phi^{-1}(0.85)
  EXPECT_LT(one_run_mu_lower_bound({200, 200, 100}, 0.95).value, 1e-9);
}

CanaryGuesses guess(const std::vector<double>& scores, const std::vector<std::uint8_t>& included,
                    std::uint64_t guesses, Ties ties = Ties::at_random, std::uint64_t seed = 0) {
  return guess_canaries(scores, included, std::vector{guesses}, ties, seed).front();
}

TEST(GuessCanaries, TakesTheEnds) {
  const std::vector<double> scores = {5, 4, 3, 2, 1};
  const std::vector<std::uint8_t> included = {1, 0, 1, 0, 0};
  for (const Ties ties : {Ties::at_random, Ties::against_attacker}) {
    EXPECT_EQ(guess(scores, included, 3, ties).correct, 2u);  // 5 and 4 as members, 1 not
    EXPECT_EQ(guess(scores, included, 0, ties).correct, 0u);
    const auto several = guess_canaries(scores, included, std::vector<std::uint64_t>{5, 3}, ties);
    EXPECT_EQ(several[0].correct, 4u);  // 5, 4 and 3 as members, 2 and 1 not
    EXPECT_EQ(several[1].correct, 2u);
  }
}

TEST(GuessCanaries, BreaksTiesAtRandom) {
  std::vector<double> scores(1000, 1.0);
  std::vector<std::uint8_t> included(1000);
  for (std::size_t i = 0; i < 1000; ++i) included[i] = i % 2;  // an order that tells nothing
  const auto correct =
      static_cast<double>(guess(scores, included, 1000, Ties::at_random, 1).correct);
  EXPECT_NEAR(correct, 500.0, 100.0);  // six standard deviations
}

TEST(GuessCanaries, OrAgainstTheAttackerInWhateverOrderTheyCome) {
  // Three of five say "in". With two guesses as members, the one that is wrong is among them.
  const std::vector<double> scores = {1, 1, 1, 0, 0};
  EXPECT_EQ(guess(scores, {1, 1, 0, 0, 0}, 4, Ties::against_attacker).correct, 3u);
  EXPECT_EQ(guess(scores, {0, 1, 1, 0, 0}, 4, Ties::against_attacker).correct, 3u);
  EXPECT_EQ(guess(scores, {1, 1, 1, 1, 0}, 2, Ties::against_attacker).correct, 1u);
  // All alike: as many as possible are wrong on both sides.
  const std::vector<double> same(6, 0.5);
  EXPECT_EQ(guess(same, {1, 1, 1, 0, 0, 0}, 6, Ties::against_attacker).correct, 0u);
  EXPECT_EQ(guess(same, {1, 1, 1, 1, 0, 0}, 6, Ties::against_attacker).correct, 1u);
  EXPECT_EQ(guess(same, {1, 1, 1, 1, 1, 1}, 6, Ties::against_attacker).correct, 3u);
}

/// One canary: at most q = F(1 - q) can be right, which is e^eps / (1 + e^eps) and Phi(mu / 2).
TEST(OneRunCurve, IsExactForOneCanary) {
  const CanaryGuesses one{1, 1, 1};
  for (const double eps : {0.0, 0.7, 3.0}) {
    const double q = 1.0 / (1.0 + std::exp(-eps));
    EXPECT_TRUE(one_run_curve_refutes(one, Epsilon(eps), Delta(0.0), q * (1.0 + 1e-9)));
    EXPECT_FALSE(one_run_curve_refutes(one, Epsilon(eps), Delta(0.0), q));
    EXPECT_FALSE(one_run_curve_refutes(one, Epsilon(eps), Delta(0.1), q * (1.0 + 1e-9)));
    const double phi = 0.5 * std::erfc(-0.5 * eps / std::sqrt(2.0));
    EXPECT_TRUE(one_run_curve_refutes_gdp(one, eps, phi * (1.0 + 1e-9)));
    EXPECT_FALSE(one_run_curve_refutes_gdp(one, eps, phi));
  }
}

TEST(OneRunCurve, RefutesLessForLargerGuaranteesAndMoreForMoreRight) {
  const auto refutes = [](std::uint64_t v, double eps, double mu) {
    return std::pair(one_run_curve_refutes({1000, 100, v}, Epsilon(eps), Delta(1e-5), 0.05),
                     one_run_curve_refutes_gdp({1000, 100, v}, mu, 0.05));
  };
  EXPECT_EQ(refutes(90, 1.0, 0.2), std::pair(true, true));
  EXPECT_EQ(refutes(90, 4.0, 2.0), std::pair(false, false));
  EXPECT_EQ(refutes(50, 0.0, 0.0), std::pair(false, false));
  EXPECT_EQ(refutes(0, 0.0, 0.0), std::pair(false, false));
  EXPECT_FALSE(one_run_curve_refutes({5, 5, 5}, Epsilon(800.0), Delta(0.0), 0.5));  // e^eps is inf
  EXPECT_FALSE(one_run_curve_refutes({5, 5, 5}, Epsilon(0.0), Delta(1.0), 0.5));
}

TEST(OneRunAudit, DividesTheLevelByTheNumbersOfGuesses) {
  EXPECT_EQ(guess_numbers(1), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(guess_numbers(5), (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(guess_numbers(100), (std::vector<std::uint64_t>{100, 80, 40, 20}));
  const OneRunAudit perfect = maximum_one_run_audit(100, 0.95);
  EXPECT_EQ(perfect.guesses().size(), 4u);
  EXPECT_DOUBLE_EQ(perfect.level(), (1.0 - 0.95) / 4.0);
  EXPECT_EQ(perfect.best(Delta(0.0)).guesses, 100u);
  EXPECT_EQ(perfect.epsilon(Delta(1e-5)).value.nats(), perfect.maximum_epsilon(Delta(1e-5)));
  // q^100 = 0.05 / 4
  EXPECT_NEAR(perfect.epsilon(Delta(0.0)).value.nats(), 3.1048, 1e-3);
  const OneRunAudit one({{100, 100, 100}}, 0.95);
  EXPECT_GT(one.epsilon(Delta(0.0)).value.nats(), perfect.epsilon(Delta(0.0)).value.nats());
  EXPECT_EQ(one.epsilon(Delta(0.0)).confidence, 0.95);
  EXPECT_GT(one.epsilon_if_gdp(Delta(1e-5)).value.nats(), one.epsilon(Delta(1e-5)).value.nats());
}

/// Never below the tail alone, and above it where there are many canaries.
TEST(OneRunAudit, TakesTheBetterOfTailAndCurve) {
  const CanaryGuesses many{20000, 10000, 10000}, most{20000, 10000, 9990}, few{100, 40, 38};
  const auto both = [](const CanaryGuesses& guesses) {
    return OneRunAudit({guesses}, 0.95).epsilon(Delta(1e-5)).value.nats();
  };
  const auto tail = [](const CanaryGuesses& guesses) {
    return one_run_epsilon_lower_bound(guesses, Delta(1e-5), 0.95).value.nats();
  };
  EXPECT_GT(both(many), tail(many) + 0.1);
  EXPECT_GE(both(most), tail(most) - 1e-8);
  EXPECT_GE(both(few), tail(few) - 1e-8);
}

TEST(OneRun, Refusals) {
  EXPECT_THROW((void)one_run_p_value({0, 0, 0}, Epsilon(1.0), Delta(0.0)), InvalidArgument);
  EXPECT_THROW((void)one_run_p_value({5, 6, 0}, Epsilon(1.0), Delta(0.0)), InvalidArgument);
  EXPECT_THROW((void)one_run_epsilon_lower_bound({5, 5, 6}, Delta(0.0), 0.95), InvalidArgument);
  EXPECT_THROW((void)one_run_epsilon_lower_bound({5, 5, 5}, Delta(0.0), 1.0), InvalidArgument);
  EXPECT_THROW((void)one_run_mu_lower_bound({5, 5, 5}, 0.0), InvalidArgument);
  const std::vector<double> scores = {1.0, NAN};
  const std::vector<std::uint8_t> one = {1}, two = {1, 0};
  EXPECT_THROW((void)guess(scores, one, 1), InvalidArgument);
  EXPECT_THROW((void)guess(scores, two, 1), InvalidArgument);
  EXPECT_THROW((void)guess({1.0, 2.0}, two, 3), InvalidArgument);
  EXPECT_THROW((void)one_run_curve_refutes({5, 6, 0}, Epsilon(1.0), Delta(0.0), 0.05),
               InvalidArgument);
  EXPECT_THROW((void)one_run_curve_refutes({5, 5, 5}, Epsilon(1.0), Delta(0.0), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)one_run_curve_refutes_gdp({5, 5, 5}, -1.0, 0.05), InvalidArgument);
  EXPECT_THROW((void)OneRunAudit({}, 0.95), InvalidArgument);
  EXPECT_THROW((void)OneRunAudit({{5, 5, 5}}, 1.0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
