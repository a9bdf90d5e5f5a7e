#include "sfumato/study/ledger/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "unit/data/temp_dir.hpp"

namespace sfumato {
namespace {

const LedgerIdentity kIdentity{
    "[data]\nset = \"x\"\n", "0.1.0", "AVX2", {{"x", "abc"}, {"x (test)", "def"}}};

std::vector<std::string> no_differences(const std::string&, const std::string&) {
  return {"a is 1 there and 2 here", "b is not set there and 3 here"};
}

TrialResult trial(std::uint32_t policy, std::uint32_t pair, std::uint32_t replica) {
  TrialResult result;
  result.key = {policy, pair, replica};
  result.seed = 0x8000000000000000U + replica;  // more than a signed integer holds
  result.seconds = 0.5;
  for (int w = 0; w < 2; ++w) {
    WorldResult world;
    world.training_loss = 0.1 * (w + 1) + replica;
    world.largest_loss = 3.0;
    world.training_accuracy = 0.75;
    world.test_accuracy = std::nan("");
    world.odometer = HUGE_VAL;
    world.infinite_steps = 7;
    world.scores = {{"margin", 1.0 / 3.0}, {"loss", -0.25 * w}};
    world.series = {{"record_losses", {0.5F, 1.0F / 3.0F, static_cast<float>(replica)}}};
    result.worlds.push_back(std::move(world));
  }
  return result;
}

class LedgerTest : public testing::Test {
 protected:
  [[nodiscard]] Ledger open(const LedgerIdentity& identity = kIdentity) const {
    return Ledger::open(path, identity, no_differences);
  }
  void expect_refused(const LedgerIdentity& identity, const std::string& words) const {
    const std::string message = message_of<InvalidArgument>([&] { (void)open(identity); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  void expect_unreadable(const std::string& words) const {
    const std::string message = message_of<InvalidArgument>([&] { (void)Ledger::read(path); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
  TempDir dir;
  std::string path = dir / "a.ledger";
};

TEST_F(LedgerTest, KeepsTrialsInTheOrderOfTheirKeys) {
  {
    Ledger ledger = open();
    ledger.commit({trial(1, 0, 0), trial(0, 0, 1)});
    ledger.commit({trial(0, 1, 0)});
    TrialResult failed;
    failed.key = {0, 0, 0};
    failed.status = TrialStatus::failed;
    failed.message = "why";
    TrialResult diverged = trial(1, 1, 0);
    diverged.status = TrialStatus::diverged;
    diverged.worlds[1].diverged_at = 12;
    diverged.worlds[1].scores.clear();
    diverged.worlds[1].series.clear();
    ledger.commit({failed, diverged});
  }
  const Ledger ledger = Ledger::read(path);
  std::vector<TrialResult> seen;
  ledger.for_each([&](const TrialResult& t) { seen.push_back(t); });
  ASSERT_EQ(seen.size(), 5U);
  const TrialKey order[] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(seen[i].key, order[i]);
  EXPECT_EQ(seen[0].message, "why");
  EXPECT_TRUE(seen[0].worlds.empty());
  const TrialResult expected = trial(0, 0, 1);
  EXPECT_EQ(seen[1].seed, expected.seed);
  EXPECT_EQ(seen[1].seconds, 0.5);
  ASSERT_EQ(seen[1].worlds.size(), 2U);
  for (std::size_t w = 0; w < 2; ++w) {
    EXPECT_TRUE(std::isnan(seen[1].worlds[w].test_accuracy));
    EXPECT_EQ(seen[1].worlds[w].training_loss, expected.worlds[w].training_loss);
    EXPECT_EQ(seen[1].worlds[w].odometer, HUGE_VAL);
    EXPECT_EQ(seen[1].worlds[w].infinite_steps, 7U);
    EXPECT_EQ(seen[1].worlds[w].scores, expected.worlds[w].scores);
    EXPECT_EQ(seen[1].worlds[w].series, expected.worlds[w].series);
  }
  EXPECT_EQ(seen[4].worlds[1].diverged_at, 12U);
  EXPECT_FALSE(seen[4].worlds[0].diverged_at);
  EXPECT_EQ(ledger.finished().size(), 5U);
  EXPECT_TRUE(ledger.finished().contains({0, 1, 0}));
  const auto counts = ledger.counts();
  EXPECT_EQ(counts.at(TrialStatus::ok), 3U);
  EXPECT_EQ(counts.at(TrialStatus::diverged), 1U);
  EXPECT_EQ(counts.at(TrialStatus::failed), 1U);
  EXPECT_EQ(ledger.score_names(), (std::vector<std::string>{"margin", "loss"}));
}

TEST_F(LedgerTest, KnowsWhatItIsALedgerOf) {
  { const Ledger made = open(); }
  const Ledger ledger = Ledger::read(path);
  EXPECT_EQ(ledger.identity().study, kIdentity.study);
  EXPECT_EQ(ledger.identity().version, "0.1.0");
  EXPECT_EQ(ledger.identity().instruction_set, "AVX2");
  EXPECT_EQ(ledger.identity().checksums, kIdentity.checksums);
  EXPECT_TRUE(ledger.finished().empty());
  EXPECT_TRUE(ledger.score_names().empty());
}

TEST_F(LedgerTest, GoesOnOnlyWithTheSame) {
  { open().commit({trial(0, 0, 0)}); }
  {
    Ledger again = open();
    EXPECT_EQ(again.finished().size(), 1U);
    again.commit({trial(0, 0, 1)});
  }
  LedgerIdentity other = kIdentity;
  other.study += "records = 3\n";
  expect_refused(other,
                 "holds another study: a is 1 there and 2 here; b is not set there and 3 here");
  other = kIdentity;
  other.version = "0.2.0";
  expect_refused(other, "was begun by version 0.1.0, this is 0.2.0");
  other = kIdentity;
  other.instruction_set = "AVX3";
  expect_refused(other, "was computed with AVX2, this machine uses AVX3");
  other = kIdentity;
  other.checksums["x"] = "another";
  expect_refused(other, "the checksum of x differs");
  EXPECT_EQ(open().finished().size(), 2U);
}

TEST_F(LedgerTest, ATrialIsCommittedOnceAndWithItsGroup) {
  Ledger ledger = open();
  ledger.commit({trial(0, 0, 0)});
  EXPECT_THROW(ledger.commit({trial(1, 0, 0), trial(0, 0, 0)}), InternalError);
  EXPECT_EQ(ledger.finished().size(), 1U);  // nothing of the second group
  ledger.commit({trial(1, 0, 0)});
  EXPECT_EQ(ledger.finished().size(), 2U);
}

TEST_F(LedgerTest, OneProcessAddsWhileOthersRead) {
  EXPECT_FALSE(Ledger::is_growing(path));  // there is none
  {
    Ledger first = open();
    EXPECT_TRUE(Ledger::is_growing(path));
    expect_refused(kIdentity, "is in use by another process");
    first.commit({trial(0, 0, 0)});
    const Ledger reader = Ledger::read(path);
    EXPECT_EQ(reader.finished().size(), 1U);
    first.commit({trial(0, 0, 1)});
    EXPECT_EQ(reader.finished().size(), 2U);
  }
  EXPECT_FALSE(Ledger::is_growing(path));
  EXPECT_EQ(open().finished().size(), 2U);
}

TEST_F(LedgerTest, RemembersTheWorkersOfTheLastRun) {
  Ledger ledger = open();
  EXPECT_EQ(ledger.workers(), 0U);
  ledger.record_workers(3);
  ledger.record_workers(12);
  EXPECT_EQ(Ledger::read(path).workers(), 12U);
}

TEST_F(LedgerTest, FilesThatAreNone) {
  expect_unreadable("there is no such ledger");
  put(path, std::string(5000, 'x'));
  expect_unreadable("is no ledger or is damaged");
  expect_refused(kIdentity, "is no ledger or is damaged");
  put(path, "");  // an empty file is an empty database to SQLite
  expect_unreadable("is no ledger of sfumato");
  path = dir / "nowhere/a.ledger";
  EXPECT_THROW((void)open(), StorageError);
}

TEST_F(LedgerTest, AnotherSchemaVersionIsRefused) {
  { const Ledger made = open(); }
  std::string bytes = get(path);
  ASSERT_EQ(bytes[63], 2);  // user_version, big-endian, in the header of SQLite
  bytes[63] = 9;
  put(path, bytes);
  expect_unreadable("has schema version 9, this program reads 2");
  expect_refused(kIdentity, "has schema version 9");
}

TEST_F(LedgerTest, OneChangedBitIsFound) {
  { open().commit({trial(0, 0, 0), trial(1, 0, 0)}); }
  const std::string good = get(path);
  const std::size_t losses = good.rfind("record_losses") + 15;
  for (int bit = 0; bit < 8; ++bit) {
    std::string bad = good;
    bad[losses] = static_cast<char>(bad[losses] ^ (1 << bit));
    put(path, bad);
    EXPECT_THROW(Ledger::read(path).for_each([](const TrialResult&) {}), InvalidArgument);
    expect_refused(kIdentity, "0, 0) is not what was written");
  }
  std::string bad = good;
  bad[good.find("set = \"x\"")] = 'S';
  put(path, bad);
  expect_unreadable("is damaged: its study is not what was written");
  put(path, good);
  EXPECT_EQ(open().finished().size(), 2U);
}

TEST(TrialStatusName, Words) {
  EXPECT_EQ(name(TrialStatus::ok), "ok");
  EXPECT_EQ(name(TrialStatus::diverged), "diverged");
  EXPECT_EQ(name(TrialStatus::failed), "failed");
}

}  // namespace
}  // namespace sfumato
