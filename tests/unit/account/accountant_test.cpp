// The accountant: what it refuses to account for, and what its numbers are.
#include "sfumato/account/accountant/accountant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using enum NeighbouringRelation;

PrivateRelease gaussian(double multiplier, double rate, std::uint64_t steps) {
  return {GaussianNoise{multiplier}, Sampler::poisson, rate, steps};
}

Accountant with(NeighbouringRelation relation, const std::vector<PrivateRelease>& releases,
                std::uint64_t group_size = 1) {
  Accountant accountant(relation, group_size);
  for (const PrivateRelease& release : releases) accountant.compose(release);
  return accountant;
}

double epsilon_upper(const Accountant& accountant, double delta) {
  return accountant.epsilon(Delta(delta)).upper.value;
}

TEST(Accountant, EnclosesThePublishedEpsilon) {
  // Published as 2.446734; 22 digits of `remove`, which is the worse direction here.
  const Enclosure found = with(add_remove, {gaussian(2, .01, 10000)}).epsilon(Delta(1e-6));
  EXPECT_LE(found.lower.value, 2.446733944483725719460);
  EXPECT_GE(found.upper.value, 2.446733944483725719460);
  EXPECT_LT(found.upper.value - found.lower.value, 1e-8);
  EXPECT_EQ(found.upper.claim, Claim::upper_bound);
  EXPECT_EQ(found.lower.claim, Claim::lower_bound);
}

TEST(Accountant, NothingReleasedRevealsNothing) {
  const Accountant empty(add_remove);
  EXPECT_EQ(empty.epsilon(Delta(1e-5)).upper.value, 0.0);
  EXPECT_EQ(empty.advantage().upper.value, 0.0);
  EXPECT_DOUBLE_EQ(empty.tpr(0.01).upper.value, 0.01);
  const Accountant idle = with(add_remove, {gaussian(1, .01, 0), gaussian(1, 0, 100)});
  EXPECT_EQ(idle.epsilon(Delta(1e-5)).upper.value, 0.0);
}

TEST(Accountant, FullBatchesAreGaussianPrivacy) {
  const std::vector<PrivateRelease> releases = {{GaussianNoise{4}, Sampler::full, 1.0, 50}};
  const double mu = std::sqrt(50.0) / 4.0;
  const double truth = gdp_epsilon(mu, Delta(1e-5)).nats();
  EXPECT_NEAR(epsilon_upper(with(add_remove, releases), 1e-5), truth, 1e-9 * truth);
  EXPECT_GE(epsilon_upper(with(add_remove, releases), 1e-5), truth * (1 - 1e-15));
  const double replaced = gdp_epsilon(2 * mu, Delta(1e-5)).nats();
  EXPECT_NEAR(epsilon_upper(with(replace_one, releases), 1e-5), replaced, 1e-9 * replaced);
  const double group = gdp_epsilon(3 * mu, Delta(1e-5)).nats();
  EXPECT_NEAR(epsilon_upper(with(add_remove, releases, 3), 1e-5), group, 1e-9 * group);
}

TEST(Accountant, ShuffledBatchesAreOneFullStepPerEpoch) {
  // Spec §19.6, reference value; the Poisson number of the same run is far smaller and is not it.
  const std::vector<PrivateRelease> shuffled = {{GaussianNoise{1}, Sampler::shuffle, 1.0, 10}};
  EXPECT_NEAR(epsilon_upper(with(zero_out, shuffled), 1e-5), 17.85658683010761, 1e-8);
  EXPECT_LT(epsilon_upper(with(add_remove, {gaussian(1, .01, 1000)}), 1e-5), 4.0);
  // Nothing is known from below: the truth may be smaller.
  EXPECT_EQ(with(zero_out, shuffled).epsilon(Delta(1e-5)).lower.value, 0.0);
}

TEST(Accountant, RefusesWhatHasNoProof) {
  const auto refused = [](NeighbouringRelation relation, const PrivateRelease& release,
                          std::uint64_t group_size, const char* key) {
    Accountant accountant(relation, group_size);
    try {
      accountant.compose(release);
      ADD_FAILURE() << "accounted for: " << describe(release);
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.where().text(), key) << error.what();
    }
    EXPECT_TRUE(accountant.releases().list.empty());
  };
  refused(add_remove, {GaussianNoise{1}, Sampler::shuffle, 1, 10}, 1, "adjacency");
  refused(add_remove, {GaussianNoise{1}, Sampler::fixed_size, 1, 10, 100, 10}, 1, "adjacency");
  refused(zero_out, {GaussianNoise{1}, Sampler::fixed_size, 1, 10, 100, 10}, 1, "adjacency");
  refused(replace_one, {GaussianNoise{1}, Sampler::fixed_size, 1, 10, 100, 10}, 2, "group_size");
  refused(replace_one, {GaussianNoise{1}, Sampler::fixed_size, 1, 10, 10, 100}, 1, "batch_size");
  refused(add_remove, {LaplaceNoise{1}, Sampler::poisson, 0.1, 10}, 1, "sampler");
  refused(add_remove, {KnownStep{Epsilon(1), Delta(0)}, Sampler::poisson, 0.1, 10}, 1, "sampler");
  refused(add_remove, {HiddenIterates{1}, Sampler::poisson, 0.1, 10}, 1, "sampler");
  for (const double rate : {-0.1, 1.1, std::nan("")}) {
    refused(add_remove, gaussian(1, rate, 10), 1, "sample_rate");
  }
  for (const double multiplier : {-1.0, kInf, std::nan("")}) {
    refused(add_remove, gaussian(multiplier, 0.1, 10), 1, "noise_multiplier");
  }
  PrivateRelease capped = gaussian(1, 0.1, 10);
  capped.batch_cap = 20;
  refused(add_remove, capped, 1, "batch_cap");  // of how many records?
  capped.records = 100;
  refused(add_remove, capped, 2, "group_size");
  EXPECT_THROW(Accountant(add_remove, 0), InvalidArgument);
}

TEST(Accountant, OrderAndSplittingDoNotMatter) {
  const Accountant one = with(add_remove, {gaussian(1, .01, 1000), gaussian(2, .05, 100)});
  const Accountant other =
      with(add_remove, {gaussian(2, .05, 60), gaussian(1, .01, 1000), gaussian(2, .05, 40)});
  const Enclosure a = one.epsilon(Delta(1e-5)), b = other.epsilon(Delta(1e-5));
  EXPECT_LE(a.lower.value, b.upper.value);
  EXPECT_LE(b.lower.value, a.upper.value);
  EXPECT_NEAR(a.upper.value, b.upper.value, 1e-9);
  EXPECT_EQ(other.releases().list.size(), 2u);  // equal steps are one entry
}

TEST(Accountant, TakesTheWorseDirectionOfTheWholeList) {
  // `add` is the worse one of neither here, but both are composed as a whole.
  const Accountant accountant = with(add_remove, {gaussian(1, .3, 7)});
  const Enclosure at = accountant.delta(Epsilon(3.0));
  EXPECT_GT(at.lower.value, 0.0);  // `add` alone is 0 there: its loss is at most 2.5
}

TEST(Accountant, AttackerViewsAgreeWithReferences) {
  const Accountant accountant = with(add_remove, {gaussian(1, .01, 1000)});
  const Enclosure advantage = accountant.advantage();
  EXPECT_LE(advantage.lower.value, 0.1610176196979251648780);
  EXPECT_GE(advantage.upper.value, 0.1610176196979251648780);
  const Enclosure accuracy = accountant.attack_accuracy(0.5);
  EXPECT_NEAR(accuracy.upper.value, 0.5805088098489625824390, 1e-11);
  EXPECT_GE(accuracy.upper.value, 0.5805088098489625824390);
  EXPECT_NEAR(accountant.attack_accuracy(0.1).upper.value, 0.9000000560533485160928, 1e-11);
  const Enclosure rate = accountant.tpr(0.01);
  EXPECT_GE(rate.upper.value, 0.02913909458874653257486);
  EXPECT_NEAR(rate.upper.value, 0.02913909458874653257486, 1e-10);
  EXPECT_LE(rate.lower.value, 0.02913909458874653257486);
}

TEST(Accountant, TruePositiveRatesAreBetweenGuessAndOneAndRise) {
  const Accountant accountant = with(replace_one, {gaussian(0.7, .02, 300)});
  double last = 0.0;
  for (const double fpr : {0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0}) {
    const double rate = accountant.tpr(fpr).upper.value;
    EXPECT_GE(rate, fpr);
    EXPECT_GE(rate, last * (1 - 1e-9));
    EXPECT_LE(rate, 1.0);
    last = rate;
  }
  EXPECT_THROW((void)accountant.tpr(-0.1), InvalidArgument);
  EXPECT_THROW((void)accountant.attack_accuracy(0.0), InvalidArgument);
}

TEST(Accountant, RenyiIsLooserAndTheLimitIsAnEstimate) {
  const Accountant accountant = with(add_remove, {gaussian(1.1, .00427, 14062)});
  const double exact = epsilon_upper(accountant, 1e-5);
  const Claimed<Epsilon> renyi = accountant.renyi_epsilon(Delta(1e-5));
  EXPECT_EQ(renyi.claim, Claim::upper_bound);
  EXPECT_GT(renyi.value.nats(), exact);
  EXPECT_LT(renyi.value.nats(), 1.3 * exact);
  const auto limit = accountant.clt_epsilon(Delta(1e-5));
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->claim, Claim::estimate);
  EXPECT_LT(limit->value.nats(), exact);  // below the truth: why it decides nothing
  EXPECT_FALSE(with(replace_one, {gaussian(1, .1, 10)}).clt_epsilon(Delta(1e-5)).has_value());
}

TEST(Accountant, WithoutNoiseOnlySamplingHides) {
  const Accountant bare = with(add_remove, {gaussian(0, .001, 10)});
  EXPECT_EQ(epsilon_upper(bare, 1e-5), kInf);
  EXPECT_THROW((void)bare.guarantee(Delta(1e-5)), InvalidArgument);
  // With probability (1 - q)^k the record was never seen.
  EXPECT_NEAR(bare.delta(Epsilon(1)).upper.value, -std::expm1(10 * std::log1p(-.001)), 1e-12);
  EXPECT_EQ(epsilon_upper(with(add_remove, {{GaussianNoise{0}}}), 0.5), kInf);
}

TEST(Accountant, HardlyAnyNoiseStillHasARenyiBound) {
  const Accountant accountant = with(add_remove, {gaussian(0.005, .01, 10)});
  EXPECT_LE(epsilon_upper(accountant, 1e-5), accountant.renyi_epsilon(Delta(1e-5)).value.nats());
}

TEST(Accountant, KnownStepsAndLaplaceCompose) {
  // Pure privacy: k eps0 at delta = 0, and no more than that at any delta.
  const Accountant known =
      with(add_remove, {{KnownStep{Epsilon(0.1), Delta(0)}, Sampler::full, 1, 20}});
  EXPECT_NEAR(epsilon_upper(known, 0.0), 2.0, 1e-9);
  EXPECT_LT(epsilon_upper(known, 1e-5), 2.0);
  const Accountant laplace = with(add_remove, {{LaplaceNoise{10}, Sampler::full, 1, 20}});
  EXPECT_NEAR(epsilon_upper(laplace, 0.0), 2.0, 1e-9);
  EXPECT_LE(epsilon_upper(laplace, 1e-5), epsilon_upper(known, 1e-5) * (1 + 1e-9));
  // A failure of a step is part of delta.
  const Accountant failing =
      with(add_remove, {{KnownStep{Epsilon(0.1), Delta(1e-6)}, Sampler::full, 1, 20}});
  EXPECT_GE(failing.delta(Epsilon(2.0)).upper.value, 2e-5 * (1 - 1e-5));
  EXPECT_EQ(epsilon_upper(failing, 1e-5), kInf);
}

TEST(Accountant, GroupsOfOneAreNoGroupsAndLargerOnesCostMore) {
  const std::vector<PrivateRelease> releases = {gaussian(2, .01, 2000)};
  const double one = epsilon_upper(with(add_remove, releases), 1e-5);
  EXPECT_EQ(epsilon_upper(with(add_remove, releases, 1), 1e-5), one);
  // Reference: delta of a group of 3 at eps = 2.
  const Enclosure group = with(add_remove, releases, 3).delta(Epsilon(2));
  EXPECT_GE(group.upper.value, 0.001623213731859373397668);
  EXPECT_NEAR(group.upper.value, 0.001623213731859373397668, 1e-9);
  EXPECT_GT(epsilon_upper(with(replace_one, releases, 2), 1e-5),
            epsilon_upper(with(replace_one, releases), 1e-5));
}

TEST(Accountant, FixedSizeIsNotPoisson) {
  // Reference value of the two-sided pair (Spec §17.3).
  const Accountant fixed =
      with(replace_one, {{GaussianNoise{4}, Sampler::fixed_size, 1, 400, 100, 5}});
  const Enclosure found = fixed.delta(Epsilon(3));
  EXPECT_GE(found.upper.value, 3.733949178091584312350e-7 * (1 - 1e-12));
  EXPECT_LE(found.upper.value, 3.733949178091584312350e-7 * 1.01);
  EXPECT_GT(found.upper.value,
            with(replace_one, {gaussian(4, .05, 400)}).delta(Epsilon(3)).upper.value);
}

TEST(Accountant, TheTwoMethodsAgreeAlsoWhereNothingIsKnownFromBelow) {
  const Accountant fixed =
      with(replace_one, {{GaussianNoise{4}, Sampler::fixed_size, 1, 400, 100, 5}});
  EXPECT_TRUE(fixed.methods_agree(Epsilon(3)));
  EXPECT_TRUE(with(add_remove, {gaussian(1, .01, 1000)}).methods_agree(Epsilon(1)));
}

TEST(Accountant, BatchCapsCostWhatTheyMayShow) {
  PrivateRelease capped = gaussian(1, 0.01, 1000);
  capped.records = 10000;
  capped.batch_cap = 150;  // five deviations above the mean of 100
  const double plain = with(add_remove, {gaussian(1, .01, 1000)}).delta(Epsilon(2)).upper.value;
  const double shown = with(add_remove, {capped}).delta(Epsilon(2)).upper.value;
  EXPECT_GT(shown, plain);
  capped.batch_cap = 10000;
  EXPECT_NEAR(with(add_remove, {capped}).delta(Epsilon(2)).upper.value, plain, 1e-12 * plain);
}

TEST(AccountantDelta, KeepsItsSideBelowTheLeastNormalNumber) {
  // Closed forms of one step in arithmetic of 34 digits; a double has two to four digits there.
  struct Case {
    double noise, rate, epsilon, delta;
  };
  for (const Case& c :
       {Case{20.893290489705194, .001339347894397254, .006870099777526743, 1.10198e-320},
        Case{0.09349418371470714, 6.03057593670076e-06, 452.408954115735, 2.3371e-323}}) {
    Accountant accountant(NeighbouringRelation::add_remove);
    accountant.compose(gaussian(c.noise, c.rate, 1));
    const Enclosure delta = accountant.delta(Epsilon(c.epsilon));
    EXPECT_LT(delta.lower.value, c.delta);  // which is no multiple of the last place
    EXPECT_GT(delta.upper.value, c.delta);
    EXPECT_LE(delta.upper.value - delta.lower.value, 1e-322);
  }
}

}  // namespace
}  // namespace sfumato
