#include "lab/study/scheduler/retrain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "lab/study/scheduler/run_study.hpp"
#include "sfumato/core/error.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class RetrainTest : public testing::Test {
 protected:
  RetrainTest() {
    Ledger ledger = Ledger::open(path, runner.identity(), study_differences);
    (void)run_study(runner, ledger, 1, observer);
  }
  /// A ledger of the same trials, but for what `alter` does to one of them.
  [[nodiscard]] Ledger altered(const std::function<void(TrialResult&)>& alter) const {
    const std::string copy = small.dir / "altered.ledger";
    {
      Ledger ledger = Ledger::open(copy, runner.identity(), study_differences);
      std::vector<TrialResult> trials;
      Ledger::read(path).for_each([&](const TrialResult& t) { trials.push_back(t); });
      alter(trials[7]);
      ledger.commit(trials);
    }
    return Ledger::read(copy);
  }
  SmallStudy small;
  TrialRunner runner = TrialRunner(small.study());
  std::string path = small.dir / "a.ledger";
  Observer observer;
};

TEST_F(RetrainTest, TheSameTrialsAgain) {
  const Ledger ledger = Ledger::read(path);
  require_comparable(runner, ledger, path);
  const Retraining some = retrain(runner, ledger, 3, 11, 2, observer);
  EXPECT_EQ(some.held, 12U);
  EXPECT_EQ(some.sample.size(), 3U);
  EXPECT_GE(some.trials, 4U);  // groups hold two trials, and three need two of them
  EXPECT_EQ(some.trials, 2 * some.groups);
  EXPECT_EQ(some.models, 2 * some.trials);
  EXPECT_TRUE(some.mismatches.empty());
  EXPECT_FALSE(some.stopped);
  EXPECT_EQ(retrain(runner, ledger, 3, 11, 1, observer).sample, some.sample);
  EXPECT_NE(retrain(runner, ledger, 3, 12, 1, observer).sample, some.sample);
  EXPECT_EQ(retrain(runner, ledger, 100, 1, 1, observer).trials, 12U);
}

TEST_F(RetrainTest, AnAlteredTrialIsNamedWithItsDifference) {
  const struct {
    std::function<void(TrialResult&)> alter;
    const char* words;
  } cases[] = {
      {[](TrialResult& t) { t.seed ^= 1; }, "seed "},
      {[](TrialResult& t) { t.status = TrialStatus::diverged; }, "diverged in the ledger, ok now"},
      {[](TrialResult& t) { t.worlds[1].training_loss = 0.25; }, "D': training loss 0.25 in"},
      {[](TrialResult& t) { t.worlds[0].diverged_at = 3; }, "D: diverged at step 3 in the ledger"},
      {[](TrialResult& t) { t.worlds[0].scores[1].value = -7.0; }, " -7 in the ledger, "},
      {[](TrialResult& t) {
         float& loss = t.worlds[1].series.at(0).values.at(0);
         loss = std::nextafter(loss, 100.0F);
       },
       " 0 "},
      {[](TrialResult& t) { t.worlds[0].infinite_steps += 1; }, "its bytes differ"},
  };
  for (const auto& [alter, words] : cases) {
    std::filesystem::remove(small.dir / "altered.ledger");
    const Retraining found = retrain(runner, altered(alter), 12, 1, 1, observer);
    ASSERT_EQ(found.mismatches.size(), 1U) << words;
    EXPECT_EQ(found.mismatches[0].key, (TrialKey{1, 0, 1}));
    EXPECT_NE(found.mismatches[0].what.find(words), std::string::npos) << found.mismatches[0].what;
  }
  std::filesystem::remove(small.dir / "altered.ledger");
  const auto slower = [](TrialResult& t) { t.seconds += 1.0; };
  EXPECT_TRUE(retrain(runner, altered(slower), 12, 1, 1, observer).mismatches.empty());
  std::filesystem::remove(small.dir / "altered.ledger");
  const auto outside = [](TrialResult& t) { t.key.policy = 9; };
  EXPECT_THROW((void)retrain(runner, altered(outside), 12, 1, 1, observer), InvalidArgument);
}

TEST_F(RetrainTest, OnlyWhatMustBeTheSameIsCompared) {
  const auto refusal = [&](const std::function<void(LedgerIdentity&)>& change) {
    LedgerIdentity identity = runner.identity();
    change(identity);
    const std::string other = small.dir / "other.ledger";
    std::filesystem::remove(other);
    const Ledger ledger = Ledger::open(other, identity, study_differences);
    return message_of<InvalidArgument>([&] { require_comparable(runner, ledger, other); });
  };
  EXPECT_NE(refusal([](LedgerIdentity& i) { i.version = "0"; }).find("was made by version 0"),
            std::string::npos);
  EXPECT_NE(refusal([](LedgerIdentity& i) {
              i.instruction_set = "Z9";
            }).find("was computed with Z9, this machine uses"),
            std::string::npos);
  EXPECT_NE(refusal([](LedgerIdentity& i) {
              i.checksums.begin()->second = "x";
            }).find("was computed on other data"),
            std::string::npos);
  const Ledger empty =
      Ledger::open(small.dir / "empty.ledger", runner.identity(), study_differences);
  EXPECT_THROW((void)retrain(runner, empty, 1, 1, 1, observer), InvalidArgument);
}

TEST(ShareThatMayHide, Values) {
  EXPECT_NEAR(share_that_may_hide(59, 1000), 0.0495, 1e-4);
  EXPECT_NEAR(std::pow(1.0 - share_that_may_hide(10, 1000), 10), 0.05, 1e-12);
  EXPECT_EQ(share_that_may_hide(10, 10), 0.0);
}

}  // namespace
}  // namespace sfumato::lab
