#include "lab/study/policy_trials.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

TrialResult trial(TrialKey key, double loss) {
  TrialResult result;
  result.key = key;
  for (int w = 0; w < 2; ++w) {
    WorldResult world;
    world.training_loss = loss + w;
    world.largest_loss = 2.0 * loss;
    world.test_accuracy = std::nan("");
    world.path_kl = 10.0 * key.pair + key.replica + w;
    world.scores = {{"loss", -loss}};
    result.worlds.push_back(std::move(world));
  }
  return result;
}

/// One policy, two pairs of two replicas: two trials are fine, one diverged in D', one failed.
class PolicyTrialsTest : public testing::Test {
 protected:
  PolicyTrialsTest() {
    study_.noise.resize(1);
    study_.audit.pairs = study_.audit.replicas = 2;
    TrialResult diverged = trial({0, 0, 1}, 100.0);
    diverged.status = TrialStatus::diverged;
    diverged.worlds[1] = WorldResult{};
    diverged.worlds[1].diverged_at = 3;
    TrialResult failed;
    failed.key = {0, 1, 1};
    failed.status = TrialStatus::failed;
    failed.message = "no memory";
    Ledger::open(path_, {"x", "0", "AVX2", {}}, {})
        .commit({trial({0, 0, 0}, 1.0), diverged, trial({0, 1, 0}, 2.0), failed});
  }
  [[nodiscard]] PolicyTrials read() const {
    return trials_by_policy(Ledger::read(path_), study_, "loss").at(0);
  }
  TempDir dir_;
  std::string path_ = dir_ / "a.ledger";
  Study study_;
};

TEST_F(PolicyTrialsTest, FailedTrialsAreCountedAndLeftOut) {
  const PolicyTrials trials = read();
  EXPECT_EQ(trials.trials, 4U);
  EXPECT_EQ(trials.failed, 1U);
  ASSERT_EQ(trials.scores.size(), 2U);
  EXPECT_EQ(trials.scores[1].with, std::vector<double>{-2.0});
}

TEST_F(PolicyTrialsTest, ADivergedModelRanksLowestAndHasNoLoss) {
  const PolicyTrials trials = read();
  EXPECT_EQ(trials.diverged, 1U);
  EXPECT_EQ(trials.scores[0].with, (std::vector<double>{-1.0, -100.0}));
  EXPECT_EQ(trials.scores[0].without, (std::vector<double>{-1.0, -HUGE_VAL}));
  EXPECT_EQ(trials.differing_losses[0], (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(trials.worst_loss, 3.0);
  EXPECT_EQ(trials.largest_loss, 4.0);
}

TEST_F(PolicyTrialsTest, PairsAreApartUnlessEachReplicaDrewItsOwn) {
  EXPECT_EQ(read().path_kls, (std::vector<PathKlRuns>{{{{0.0}, {1.0}}}, {{{10.0}, {11.0}}}}));
  study_.audit.random_pairs = true;
  const PolicyTrials pooled = read();
  EXPECT_EQ(pooled.path_kls, (std::vector<PathKlRuns>{{{{0.0, 10.0}, {1.0, 11.0}}}}));
  ASSERT_EQ(pooled.scores.size(), 1U);
  EXPECT_EQ(pooled.scores[0].with, (std::vector<double>{-1.0, -100.0, -2.0}));
}

}  // namespace
}  // namespace sfumato::lab
