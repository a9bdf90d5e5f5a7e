#include "sfumato/audit/one_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/audit/canary_guesses.hpp"
#include "sfumato/audit/one_run_gdp.hpp"

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
  EXPECT_GT(one_run_epsilon_if_gdp(guesses, Delta(1e-5), 0.95).value.nats(), 0.0);
  EXPECT_LT(one_run_mu_lower_bound({200, 200, 100}, 0.95).value, 1e-9);
}

TEST(GuessCanaries, TakesTheEnds) {
  const std::vector<double> scores = {5, 4, 3, 2, 1};
  const std::vector<std::uint8_t> included = {1, 0, 1, 0, 0};
  const CanaryGuesses three = guess_canaries(scores, included, 3);
  EXPECT_EQ(three.correct, 2u);  // 5 and 4 are said to be members, 1 not
  EXPECT_EQ(guess_canaries(scores, included, 0).correct, 0u);
}

TEST(GuessCanaries, BreaksTiesAtRandom) {
  std::vector<double> scores(1000, 1.0);
  std::vector<std::uint8_t> included(1000, 0);
  std::fill_n(included.begin(), 500, std::uint8_t{1});  // the order gives them away
  const auto correct = static_cast<double>(guess_canaries(scores, included, 1000, 1).correct);
  EXPECT_NEAR(correct, 500.0, 100.0);  // six standard deviations
}

TEST(OneRun, Refusals) {
  EXPECT_THROW((void)one_run_p_value({0, 0, 0}, Epsilon(1.0), Delta(0.0)), InvalidArgument);
  EXPECT_THROW((void)one_run_p_value({5, 6, 0}, Epsilon(1.0), Delta(0.0)), InvalidArgument);
  EXPECT_THROW((void)one_run_epsilon_lower_bound({5, 5, 6}, Delta(0.0), 0.95), InvalidArgument);
  EXPECT_THROW((void)one_run_epsilon_lower_bound({5, 5, 5}, Delta(0.0), 1.0), InvalidArgument);
  EXPECT_THROW((void)one_run_mu_lower_bound({5, 5, 5}, 0.0), InvalidArgument);
  const std::vector<double> scores = {1.0, NAN};
  const std::vector<std::uint8_t> one = {1}, two = {1, 0};
  EXPECT_THROW((void)guess_canaries(scores, one, 1), InvalidArgument);
  EXPECT_THROW((void)guess_canaries(scores, two, 1), InvalidArgument);
  EXPECT_THROW((void)guess_canaries(std::vector<double>{1.0, 2.0}, two, 3), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
