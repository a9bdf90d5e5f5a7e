#include "reproduce/confidences.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/temp_dir.hpp"

namespace sfumato::apps {
namespace {

TrialResult trial(TrialKey key, float loss) {
  TrialResult result;
  result.key = key;
  for (int w = 0; w < 2; ++w) {
    WorldResult world;
    world.scores = {{"loss", -static_cast<double>(loss)}};
    world.series = {{"record_losses", {0.0F, loss + static_cast<float>(w), -1e-8F}}};
    result.worlds.push_back(std::move(world));
  }
  return result;
}

TEST(Confidences, ThoseOfModelsThatFinishedByPairAndPolicy) {
  TempDir dir;
  TrialResult diverged = trial({0, 0, 1}, 100.0F);
  diverged.status = TrialStatus::diverged;
  diverged.worlds[1] = WorldResult{};
  diverged.worlds[1].diverged_at = 3;
  TrialResult failed;
  failed.key = {0, 1, 1};
  failed.status = TrialStatus::failed;
  failed.message = "no memory";
  Ledger::open(dir / "a.ledger", {"x", "0", "AVX2", {}}, {})
      .commit({trial({0, 0, 0}, 1.0F), diverged, trial({0, 1, 0}, 2.0F), failed});
  Study study;
  study.noise.resize(2);
  study.audit.pairs = study.audit.replicas = 2;
  study.audit.random_pairs = true;  // the statistic compares records: pairs stay apart
  const auto confidences = confidences_by_policy(Ledger::read(dir / "a.ledger"), study);
  ASSERT_EQ(confidences.size(), 2U);
  EXPECT_TRUE(confidences[1].empty());
  ASSERT_EQ(confidences[0].size(), 2U);
  ASSERT_EQ(confidences[0][0].with.rows(), 1);
  ASSERT_EQ(confidences[0][0].with.cols(), 3);
  EXPECT_EQ(confidences[0][0].with(0, 0), 1.0);
  EXPECT_EQ(confidences[0][0].with(0, 1), std::exp(-1.0));
  EXPECT_EQ(confidences[0][0].without(0, 1), std::exp(-2.0));
  EXPECT_EQ(confidences[0][1].with(0, 1), std::exp(-2.0));
  EXPECT_EQ(confidences[0][1].with(0, 2), 1.0);  // a loss below 0 is rounding
}

TEST(Confidences, NoneWhereRecordLossesWereNotKept) {
  TempDir dir;
  TrialResult bare = trial({0, 0, 0}, 1.0F);
  for (WorldResult& world : bare.worlds) world.series.clear();
  Ledger::open(dir / "a.ledger", {"x", "0", "AVX2", {}}, {}).commit({bare});
  Study study;
  study.noise.resize(1);
  EXPECT_TRUE(confidences_by_policy(Ledger::read(dir / "a.ledger"), study).at(0).empty());
}

}  // namespace
}  // namespace sfumato::apps
