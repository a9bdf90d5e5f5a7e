#include "lab/study/trial_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sfumato/version.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class TrialRunnerTest : public testing::Test {
 protected:
  std::vector<TrialResult> run(const std::vector<std::string>& settings, std::size_t group) {
    Observer quiet;
    return TrialRunner(small.study(settings)).run(group, quiet);
  }
  SmallStudy small;
};

TEST_F(TrialRunnerTest, GroupsAreReplicasOfPairs) {
  const TrialRunner runner(small.study());
  EXPECT_EQ(runner.groups(), 6U);
  EXPECT_EQ(runner.keys(0), (std::vector<TrialKey>{{0, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(runner.keys(4), (std::vector<TrialKey>{{0, 1, 1}, {1, 1, 1}}));
}

TEST_F(TrialRunnerTest, ATrialIsAFunctionOfStudyAndKey) {
  Observer quiet;
  const TrialRunner runner(small.study());
  const std::vector<TrialResult> last = runner.run(5, quiet);
  (void)runner.run(0, quiet);
  const std::vector<TrialResult> again = runner.run(5, quiet), elsewhere = run({}, 5);
  ASSERT_EQ(last.size(), 2U);
  std::set<std::uint64_t> seeds;
  for (std::size_t i = 0; i < last.size(); ++i) {
    EXPECT_EQ(last[i].key, runner.keys(5)[i]);
    EXPECT_EQ(last[i].status, TrialStatus::ok);
    EXPECT_GT(last[i].seconds, 0.0);
    EXPECT_TRUE(same_trial(last[i], again[i]));
    EXPECT_TRUE(same_trial(last[i], elsewhere[i]));
  }
  for (std::size_t group = 0; group < runner.groups(); ++group) {
    seeds.insert(runner.run(group, quiet).front().seed);
  }
  EXPECT_EQ(seeds.size(), 6U);
  EXPECT_FALSE(same_trial(run({"train.seed=1"}, 5)[0], last[0]));
}

TEST_F(TrialRunnerTest, RecordsWhatModelsAreJudgedBy) {
  const std::vector<TrialResult> results = run({}, 0);
  for (const TrialResult& trial : results) {
    ASSERT_EQ(trial.worlds.size(), 2U);
    for (const WorldResult& world : trial.worlds) {
      std::vector<std::string> names;
      for (const NamedScore& score : world.scores) {
        names.push_back(score.name);
        EXPECT_TRUE(std::isfinite(score.value)) << score.name;
      }
      EXPECT_EQ(names, (std::vector<std::string>{"loss", "confidence", "margin", "gradient_norm",
                                                 "projection"}));
      ASSERT_EQ(world.series.size(), 2U);
      EXPECT_EQ(world.series[0].name, "batch_losses");
      EXPECT_EQ(world.series[1].name, "record_losses");
      EXPECT_EQ(world.series[1].values.size(), 20U);
      EXPECT_GT(world.path_kl, 0.0);
      EXPECT_GE(world.test_accuracy, 0.0);
    }
    const std::vector<float>& losses = trial.worlds[0].series[1].values;
    EXPECT_NEAR(trial.worlds[0].largest_loss,
                static_cast<double>(*std::max_element(losses.begin(), losses.end())), 1e-6);
    EXPECT_NE(trial.worlds[0].training_loss, trial.worlds[1].training_loss);
  }
  const std::vector<TrialResult> without = run({"audit.record_losses=false"}, 0);
  ASSERT_EQ(without[0].worlds[0].series.size(), 1U);
  EXPECT_EQ(without[0].worlds[0].series[0].name, "batch_losses");
}

TEST_F(TrialRunnerTest, WorldsShareTheirSeedOrNot) {
  const std::vector<std::string> apart = {"audit.coupled=false", "train.path_kl=false"};
  // With D = D' but for one record and no noise, coupled worlds differ by that record alone.
  const auto distance = [&](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"train.iterations=1", "train.learning_rate=1e-6"});
    const WorldResult d = run(settings, 0)[0].worlds[0], d1 = run(settings, 0)[0].worlds[1];
    return std::fabs(d.scores[0].value - d1.scores[0].value);
  };
  EXPECT_LT(distance({}), 1e-3);
  EXPECT_GT(distance(apart), 1e-2);  // other initial weights
  EXPECT_TRUE(std::isnan(run(apart, 0)[0].worlds[0].path_kl));
  // D alone is the same model in both cases: same seed, same slots.
  EXPECT_EQ(run(apart, 0)[0].worlds[0].training_loss,
            run({"train.path_kl=false"}, 0)[0].worlds[0].training_loss);
}

TEST_F(TrialRunnerTest, WorldsShareWhatTheStudySays) {
  const auto losses = [&](const std::string& share, std::vector<std::string> more) {
    more.insert(more.end(), {"train.path_kl=false", "audit.share=" + share});
    std::vector<std::vector<float>> worlds;
    const std::vector<TrialResult> results = run(more, 0);
    for (const WorldResult& world : results[0].worlds) {
      for (const NamedSeries& series : world.series) {
        if (series.name == "record_losses") worlds.push_back(series.values);
      }
    }
    return worlds;
  };
  const auto apart = [](const std::vector<std::vector<float>>& of) {
    float largest = 0.0F;
    for (std::size_t i = 0; i < of[0].size(); ++i) {
      largest = std::max(largest, std::fabs(of[0][i] - of[1][i]));
    }
    return largest;
  };
  const std::string all = "[\"init\", \"batches\", \"noise\"]", init = "[\"init\"]",
                    batches = "[\"init\", \"batches\"]", noise = "[\"init\", \"noise\"]";
  // All records of D are judged in both worlds, also where D' is trained on 19 of its own.
  for (const std::string& share : {all, init, batches, std::string("none")}) {
    const auto of = losses(share, {});
    ASSERT_EQ(of.size(), 2U);
    EXPECT_EQ(of[0].size(), 20U);
    EXPECT_EQ(of[1].size(), 20U);
    EXPECT_EQ(of[0], losses(all, {})[0]) << share;  // D is the same model
  }
  // One step that moves nothing shows the initial weights.
  const std::vector<std::string> start = {"train.iterations=1", "train.learning_rate=1e-12",
                                          "noise.0.variance=1e-30"};
  EXPECT_LT(apart(losses(init, start)), 1e-5F);
  EXPECT_GT(apart(losses("none", start)), 1e-2F);
  // Batches over the slots of D and noise in common: the masked group, world by world.
  EXPECT_EQ(losses(batches, {"noise.0.variance=1e-30"})[1],
            losses(all, {"noise.0.variance=1e-30"})[1]);
  EXPECT_NE(losses(batches, {})[1], losses(all, {})[1]);  // other normals
  EXPECT_NE(losses(noise, {"noise.0.variance=1e-30"})[1],
            losses(all, {"noise.0.variance=1e-30"})[1]);  // other batches
  // A batch of all records of D' has one fewer, and is divided by that.
  const std::vector<std::string> full = {"train.batches=shuffled_all", "train.batch_size=20",
                                         "noise.0.variance=1e-30"};
  const auto own = losses(init, full), masked = losses(all, full);
  EXPECT_NE(own[1], masked[1]);
  EXPECT_EQ(own[0], masked[0]);
}

TEST_F(TrialRunnerTest, PairsDifferInTheRecord) {
  // Same replica, other pair: another differing record and another seed.
  const double first = run({}, 0)[0].worlds[0].scores[0].value;
  EXPECT_NE(first, run({}, 3)[0].worlds[0].scores[0].value);
  // random_pairs draws for each replica: the differing record of the second replica is another.
  const std::vector<std::string> fixed = {"train.iterations=1", "train.learning_rate=1e-9"};
  std::vector<std::string> random = fixed;
  random.emplace_back("audit.random_pairs=true");
  EXPECT_EQ(run(fixed, 0)[0].worlds[0].scores, run(random, 0)[0].worlds[0].scores);
  EXPECT_NE(run(fixed, 1)[0].worlds[0].scores, run(random, 1)[0].worlds[0].scores);
}

TEST_F(TrialRunnerTest, DivergenceIsAResult) {
  const std::vector<TrialResult> results = run({"train.learning_rate=1e38"}, 0);
  for (const TrialResult& trial : results) {
    EXPECT_EQ(trial.status, TrialStatus::diverged);
    ASSERT_EQ(trial.worlds.size(), 2U);
    EXPECT_TRUE(trial.worlds[0].diverged_at);
    EXPECT_TRUE(trial.worlds[0].scores.empty());
  }
}

TEST_F(TrialRunnerTest, NothingIfAskedToStop) {
  class Stop final : public Observer {
    [[nodiscard]] bool stop_requested() const override { return true; }
  } stop;
  EXPECT_TRUE(TrialRunner(small.study()).run(0, stop).empty());
}

TEST_F(TrialRunnerTest, IdentityHasWhatTheBitsDependOn) {
  const TrialRunner runner(small.study());
  const LedgerIdentity identity = runner.identity();
  EXPECT_EQ(identity.study, canonical_text(runner.study()));
  EXPECT_EQ(identity.version, kVersion);
  EXPECT_FALSE(identity.instruction_set.empty());
  EXPECT_EQ(identity.checksums.size(), 2U);  // the table to train on, and to test on
  for (const auto& [name, digest] : identity.checksums) EXPECT_EQ(digest.size(), 64U) << name;
}

TEST_F(TrialRunnerTest, RefusesBeforeAnythingIsTrained) {
  EXPECT_THROW(TrialRunner(small.study({"data.records=31"})), InvalidArgument);
  EXPECT_THROW(TrialRunner(small.study({"adjacency.record=31"})), InvalidArgument);
  EXPECT_THROW(TrialRunner(small.study({"data.records=30", "adjacency.kind=replace"})),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
