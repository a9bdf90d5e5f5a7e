#include "sfumato/lab/ledger/ledger.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "lab/ledger/trial_bytes.hpp"
#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
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
    world.path_kl = HUGE_VAL;
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
    EXPECT_EQ(seen[1].worlds[w].path_kl, HUGE_VAL);
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
  expect_refused(other, "was started by version 0.1.0, but this is 0.2.0");
  other = kIdentity;
  other.instruction_set = "AVX3";
  expect_refused(other, "was computed with AVX2, but this machine uses AVX3");
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
    EXPECT_EQ(reader.finished().size(), 1U);  // one moment of the ledger
    EXPECT_EQ(Ledger::read(path).finished().size(), 2U);
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
  expect_unreadable("is no file of sfumato's or is damaged");
  expect_refused(kIdentity, "is no file of sfumato's or is damaged");
  put(path, "");  // as a run leaves it that is killed at once
  expect_unreadable("is empty: no run has got as far as writing to it");
  { const Ledger made = open(); }
  EXPECT_EQ(Ledger::read(path).identity().version, "0.1.0");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  for (const char* name : {"pipe", ""}) {
    path = dir / name;
    const std::string words = *name == 'p' ? "is no regular file" : "is a directory";
    expect_unreadable(words);
    expect_refused(kIdentity, words);
    EXPECT_NE(message_of<InvalidArgument>([&] { (void)Ledger::is_growing(path); }).find(words),
              std::string::npos);
  }
  path = dir / "nowhere/a.ledger";
  EXPECT_THROW((void)open(), StorageError);
}

TEST_F(LedgerTest, AnotherFormatIsRefused) {
  { const Ledger made = open(); }
  const std::string good = get(path);
  ASSERT_EQ(good[63], 4);  // user_version, big-endian, in the header of SQLite
  std::string bytes = good;
  bytes[63] = 9;
  put(path, bytes);
  expect_unreadable("has ledger format 9, this program reads 2 to 4");
  expect_refused(kIdentity, "has ledger format 9");
  bytes[63] = 2;  // one bit: it must not turn the digest of the content off
  put(path, bytes);
  expect_unreadable("is damaged: its format is not what was written");
  bytes = good;
  bytes[71] = 'x';  // application_id
  put(path, bytes);
  expect_unreadable("is no ledger of sfumato");
  expect_refused(kIdentity, "is no ledger of sfumato");
}

TEST_F(LedgerTest, RecordsOfTheFormatBeforeCountFromZero) {
  const LedgerIdentity old{"[adjacency]\nrecord = 4\n[audit]\nrecord = 4\n", "0.1.0", "AVX2", {}};
  {
    Ledger made = open(old);
    made.commit({trial(0, 0, 0)});
  }
  EXPECT_EQ(Ledger::read(path).identity().study, old.study);
  std::string bytes = get(path);
  bytes[63] = 3;
  put(path, bytes);
  LedgerIdentity today = old;
  today.study = "[adjacency]\nrecord = 5\n[audit]\nrecord = 4\n";
  const std::string copied = dir / "b.ledger";
  {
    const Ledger read = Ledger::read(path);
    EXPECT_EQ(read.identity().study, today.study);
    read.copy_to(copied);
  }
  expect_refused(old, "holds another study");
  expect_refused(today, "has ledger format 3, to which nothing is added any more");
  path = copied;
  EXPECT_EQ(open(today).identity().study, today.study);
}

TEST_F(LedgerTest, IsForItsOwnerAndTheGroupThatTheMaskAllows) {
  const std::pair<mode_t, mode_t> cases[] = {{0, 0640}, {027, 0640}, {077, 0600}, {0377, 0600}};
  for (const auto& [mask, expected] : cases) {
    path = dir / std::to_string(mask);
    const mode_t before = ::umask(mask);
    const Ledger made = open();
    made.copy_to(path + ".copy");
    ::umask(before);
    for (const char* suffix : {"", "-wal", "-shm", ".copy"}) {
      struct stat status {};
      ASSERT_EQ(::stat((path + suffix).c_str(), &status), 0) << suffix;
      EXPECT_EQ(status.st_mode & 07777, expected) << suffix;
    }
  }
}

TEST_F(LedgerTest, IsOneFileWhenNobodyHasItOpen) {
  const auto expect_alone = [&] {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
      EXPECT_NE(::access((path + suffix).c_str(), F_OK), 0) << suffix;
    }
  };
  { open().commit({trial(0, 0, 0)}); }
  expect_alone();
  {
    Ledger::read(path).for_each([](const TrialResult&) {});
  }
  expect_alone();
  {
    const Ledger reader = Ledger::read(path);
    reader.record_look(1, 1);
    EXPECT_TRUE(reader.looks().empty());
  }
  expect_alone();
  put(dir / "moved", get(path));  // what `cp` does
  EXPECT_EQ(Ledger::read(dir / "moved").looks(), (std::map<std::uint64_t, std::uint64_t>{{1, 1}}));
}

TEST_F(LedgerTest, NamesThatSqliteGivesAMeaning) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(path).parent_path());
  for (const char* name : {":memory:", "file:u.ledger", "file:x?mode=memory", "a b%20#c?d"}) {
    path = name;
    {
      Ledger ledger = open();
      ledger.commit({trial(0, 0, 0)});
      EXPECT_TRUE(Ledger::is_growing(path));
      expect_refused(kIdentity, "is in use by another process");
    }
    EXPECT_EQ(Ledger::read(path).finished().size(), 1U) << name;
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
    EXPECT_EQ(open().finished().size(), 1U) << name;
  }
  EXPECT_FALSE(std::filesystem::exists("u.ledger"));
  std::filesystem::current_path(here);
}

TEST_F(LedgerTest, ALookAndATrialAtTheSameTime) {
  Ledger writer = open();
  writer.commit({trial(0, 0, 0)});
  const Ledger reader = Ledger::read(path);
  writer.commit({trial(0, 0, 1)});
  reader.record_look(1, 1);
  writer.commit({trial(0, 0, 2)});
  writer.record_workers(3);
  const Ledger later = Ledger::read(path);
  EXPECT_EQ(later.finished().size(), 3U);
  EXPECT_EQ(later.looks().size(), 1U);
}

TEST_F(LedgerTest, CopiesAreWholeAndNew) {
  Ledger writer = open();
  writer.commit({trial(1, 0, 0), trial(0, 0, 0)});
  writer.record_look(1, 2);
  writer.record_workers(5);
  const std::string copy = dir / "copy.ledger";
  Ledger::read(path).copy_to(copy);  // while a run has it open
  writer.commit({trial(0, 0, 1)});
  {
    const Ledger read = Ledger::read(copy);
    EXPECT_EQ(read.identity().study, kIdentity.study);
    EXPECT_EQ(read.identity().checksums, kIdentity.checksums);
    EXPECT_EQ(read.looks(), (std::map<std::uint64_t, std::uint64_t>{{1, 2}}));
    EXPECT_EQ(read.workers(), 5U);
    std::vector<TrialResult> seen;
    read.for_each([&](const TrialResult& t) { seen.push_back(t); });
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[1].worlds[0].series, trial(1, 0, 0).worlds[0].series);
  }
  const std::string bytes = get(copy);
  EXPECT_THROW(writer.copy_to(copy), InvalidArgument);  // refuses to replace
  EXPECT_EQ(get(copy), bytes);
  EXPECT_THROW(writer.copy_to(dir / "nowhere/c"), StorageError);
  // It goes on as the original would.
  path = copy;
  open().commit({trial(0, 0, 1)});
  EXPECT_EQ(Ledger::read(copy).finished().size(), 3U);
}

/// Everything that can be asked of a ledger, as text.
std::string everything(const std::string& path) {
  const Ledger ledger = Ledger::read(path);
  std::string text = ledger.identity().study + ledger.identity().version +
                     ledger.identity().instruction_set + std::to_string(ledger.workers());
  for (const auto& [name, checksum] : ledger.identity().checksums) text += name + checksum;
  for (const auto& [number, trials] : ledger.looks()) {
    text += std::to_string(number) + ":" + std::to_string(trials) + " ";
  }
  for (const auto& [status, count] : ledger.counts()) {
    text += std::string(name(status)) + std::to_string(count);
  }
  for (const std::string& name : ledger.score_names()) text += name;
  for (const TrialKey& key : ledger.finished()) text += std::to_string(key.replica) + ",";
  ledger.for_each([&](const TrialResult& t) { text += pack_trials({t}); });
  return text;
}

TEST_F(LedgerTest, AFlippedBitIsRefusedOrChangesNothing) {
  {
    Ledger ledger = open();
    std::vector<TrialResult> trials;  // enough for tables of several pages
    for (std::uint32_t replica = 0; replica < 40; ++replica) trials.push_back(trial(0, 0, replica));
    ledger.commit(trials);
    ledger.record_workers(2);
    ledger.record_look(1, 20);
    ledger.record_look(2, 40);
  }
  const std::string good = get(path), expected = everything(path);
  constexpr std::size_t kPage = 4096;
  std::vector<std::size_t> places;
  for (std::size_t page = 0; page < good.size(); page += kPage) {
    const std::size_t header = page == 0 ? 108 : 28;  // and the first cell pointers
    for (std::size_t i = 0; i < header; ++i) places.push_back(page + i);
  }
  std::uint32_t state = 12345;
  for (int i = 0; i < 150; ++i) {
    state = state * 1664525U + 1013904223U;
    places.push_back(state % good.size());
  }
  // All bytes of the page that the looks are in: those that end in the records (2, 40) and (1, 20).
  const std::size_t looks = good.rfind(std::string("\x03\x01\x00\x01\x14", 5));
  if (looks != std::string::npos) {
    for (std::size_t i = looks / kPage * kPage + kPage - 16; i < looks / kPage * kPage + kPage;
         ++i) {
      places.push_back(i);
    }
  }
  std::size_t refused = 0;
  for (const std::size_t place : places) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ (1 << bit));
      put(path, bad);
      try {
        EXPECT_EQ(everything(path), expected) << "byte " << place << ", bit " << bit;
      } catch (const InvalidArgument&) {
        ++refused;
      } catch (const StorageError& error) {
        ADD_FAILURE() << "byte " << place << ", bit " << bit << ": " << error.what();
      }
    }
  }
  EXPECT_GT(refused, places.size());
}

TEST_F(LedgerTest, AStaleWalSpoilsNoCopy) {
  { open().commit({trial(0, 0, 0)}); }
  const std::string old = get(path);
  std::string wal;
  {
    Ledger ledger = open();
    for (std::uint32_t replica = 1; replica < 6; ++replica) ledger.commit({trial(0, 0, replica)});
    wal = get(path + "-wal");
  }
  {
    Ledger ledger = open();  // pages that the stale -wal knows nothing of
    std::vector<TrialResult> trials;
    for (std::uint32_t replica = 10; replica < 90; ++replica)
      trials.push_back(trial(1, 0, replica));
    ledger.commit(trials);
  }
  const std::string good = get(path);
  put(path + "-wal", wal);
  EXPECT_THROW((void)Ledger::read(path), InvalidArgument);
  EXPECT_THROW((void)open(), InvalidArgument);
  EXPECT_EQ(get(path), good);
  std::filesystem::remove(path + "-wal");
  EXPECT_EQ(Ledger::read(path).finished().size(), 86U);
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
}  // namespace sfumato::lab
