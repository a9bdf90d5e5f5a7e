#include "lab/ledger/trial_bytes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

TrialResult example() {
  TrialResult trial;
  trial.key = {1, 2, 3};
  trial.status = TrialStatus::diverged;
  trial.message = "a \"message\"\nwith lines";
  trial.seed = 0xFEDCBA9876543210U;
  trial.seconds = 0.25;
  WorldResult world;
  world.diverged_at = 17;
  world.training_loss = 1.0 / 3.0;
  world.largest_loss = HUGE_VAL;
  world.training_accuracy = 0.5;
  world.test_accuracy = 0.25;
  world.path_kl = 3.5;
  world.infinite_steps = 4;
  world.scores = {{"loss", -0.125}, {"margin", 1e-300}};
  world.series = {{"record_losses", {1.5F, -0.0F, 3e-40F}}, {"empty", {}}};
  trial.worlds = {world, WorldResult{}};
  return trial;
}

TEST(TrialBytes, EveryBitComesBack) {
  TrialResult failed;
  failed.status = TrialStatus::failed;
  failed.message = "no room";
  const std::vector<TrialResult> trials = {example(), failed};
  const std::vector<TrialResult> back = unpack_trials(pack_trials(trials));
  ASSERT_EQ(back.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].key, trials[i].key);
    EXPECT_EQ(back[i].status, trials[i].status);
    EXPECT_EQ(back[i].message, trials[i].message);
    EXPECT_EQ(back[i].seed, trials[i].seed);
    EXPECT_EQ(back[i].seconds, trials[i].seconds);
    EXPECT_EQ(back[i].worlds, trials[i].worlds);
  }
  EXPECT_TRUE(std::signbit(back[0].worlds[0].series[0].values[1]));
  EXPECT_TRUE(unpack_trials(pack_trials({})).empty());
}

TEST(TrialBytes, NaNsComeBack) {
  TrialResult trial = example();
  trial.worlds[0].path_kl = std::nan("");
  EXPECT_TRUE(std::isnan(unpack_trials(pack_trials({trial}))[0].worlds[0].path_kl));
}

TEST(TrialBytes, AnythingElseIsRefused) {
  const std::string bytes = pack_trials({example()});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)unpack_trials(std::string_view(bytes).substr(0, size)), InternalError)
        << size;
  }
  EXPECT_THROW((void)unpack_trials(bytes + "x"), InternalError);
  EXPECT_THROW((void)unpack_trials(std::string(8, '\xFF')), InternalError);
}

TEST(TrialDigest, KnowsEveryPart) {
  const std::string digest = trial_digest(example());
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(trial_digest(example()), digest);
  const std::vector<std::function<void(TrialResult&)>> changes = {
      [](TrialResult& t) { t.key.policy = 0; },
      [](TrialResult& t) { t.key.pair = 0; },
      [](TrialResult& t) { t.key.replica = 0; },
      [](TrialResult& t) { t.status = TrialStatus::ok; },
      [](TrialResult& t) { t.message += "."; },
      [](TrialResult& t) { ++t.seed; },
      [](TrialResult& t) { t.seconds = 0.5; },
      [](TrialResult& t) { t.worlds.pop_back(); },
      [](TrialResult& t) { t.worlds[0].diverged_at.reset(); },
      [](TrialResult& t) { t.worlds[0].training_loss = std::nextafter(1.0 / 3.0, 1.0); },
      [](TrialResult& t) { t.worlds[0].largest_loss = 1.0; },
      [](TrialResult& t) { t.worlds[0].training_accuracy = 0.0; },
      [](TrialResult& t) { t.worlds[0].test_accuracy = std::nan(""); },
      [](TrialResult& t) { t.worlds[0].path_kl = -3.5; },
      [](TrialResult& t) { t.worlds[0].infinite_steps = 5; },
      [](TrialResult& t) { t.worlds[0].scores[1].name = "x"; },
      [](TrialResult& t) { t.worlds[0].scores[1].value = 0.0; },
      [](TrialResult& t) { t.worlds[0].series[0].values[2] = 0.0F; },
      [](TrialResult& t) { std::swap(t.worlds[0], t.worlds[1]); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    TrialResult changed = example();
    changes[i](changed);
    EXPECT_NE(trial_digest(changed), digest) << "change " << i;
  }
}

TEST(TrialDigest, DoesNotKnowWhatADatabaseDoesNotKeep) {
  TrialResult a = example(), b = example();
  a.worlds[0].path_kl = 0.0;
  b.worlds[0].path_kl = -0.0;
  a.worlds[0].scores[0].value = std::nan("");
  b.worlds[0].scores[0].value = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(trial_digest(a), trial_digest(b));
}

}  // namespace
}  // namespace sfumato::lab
