#include "lab/study/scheduler/run_study.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>

#include "lab/study/scheduler/worker_pool.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

std::vector<TrialResult> trials_of(const Ledger& ledger) {
  std::vector<TrialResult> trials;
  ledger.for_each([&](const TrialResult& t) { trials.push_back(t); });
  return trials;
}

/// Stops once so many trials are finished.
class StopAfter final : public Observer {
 public:
  explicit StopAfter(std::uint64_t trials) : trials_(trials) {}
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    if (stage != "trials") return;
    if (done >= trials_ && done < total) stop_ = true;
    ++calls_;
  }
  [[nodiscard]] bool stop_requested() const override { return stop_; }
  std::uint64_t calls_ = 0;

 private:
  std::uint64_t trials_;
  std::atomic<bool> stop_ = false;
};

class RunStudyTest : public testing::Test {
 protected:
  [[nodiscard]] Ledger ledger(const std::string& name) const {
    return Ledger::open(small.dir / name, runner.identity(), study_differences);
  }
  void expect_whole(const Ledger& of) {
    Observer quiet;
    const std::vector<TrialResult> trials = trials_of(of);
    ASSERT_EQ(trials.size(), 12U);
    for (std::size_t group = 0; group < runner.groups(); ++group) {
      for (const TrialResult& expected : runner.run(group, quiet)) {
        const auto found = std::find_if(trials.begin(), trials.end(), [&](const TrialResult& t) {
          return t.key == expected.key;
        });
        ASSERT_NE(found, trials.end());
        EXPECT_TRUE(same_trial(*found, expected));
      }
    }
  }
  SmallStudy small;
  // Long enough to be stopped in between.
  TrialRunner runner{small.study({"train.iterations=4000"})};
};

TEST_F(RunStudyTest, AnyNumberOfThreadsGivesTheSame) {
  for (const unsigned threads : {1U, 4U, 0U, 100U}) {
    Ledger of = ledger("threads" + std::to_string(threads));
    Observer quiet;
    const RunReport report = run_study(runner, of, threads, quiet);
    EXPECT_EQ(report.trials, 12U);
    EXPECT_EQ(report.before, 0U);
    EXPECT_EQ(report.finished, 12U);
    EXPECT_EQ(report.failed, 0U);
    EXPECT_FALSE(report.stopped);
    EXPECT_GE(of.workers(), 1U);
    EXPECT_LE(of.workers(), 6U);  // groups
    expect_whole(of);
  }
}

TEST_F(RunStudyTest, StopsAndGoesOn) {
  Ledger of = ledger("a");
  StopAfter stop(4);
  const RunReport first = run_study(runner, of, 1, stop);
  // On a busy machine the thread that trains may be done before this one stops it.
  EXPECT_EQ(first.stopped, first.finished < 12U);
  EXPECT_GE(first.finished, 4U);
  EXPECT_LE(first.finished, 12U);
  EXPECT_EQ(trials_of(of).size(), first.finished);
  EXPECT_EQ(of.workers(), 1U);
  StopAfter never(100);
  const RunReport second = run_study(runner, of, 2, never);
  EXPECT_EQ(second.before, first.finished);
  EXPECT_EQ(second.before + second.finished, 12U);
  EXPECT_FALSE(second.stopped);
  EXPECT_LE(never.calls_, 1 + second.finished / 2);  // at the start, and for each commit of groups
  expect_whole(of);
  const RunReport third = run_study(runner, of, 2, never);
  EXPECT_EQ(third.finished, 0U);
  EXPECT_FALSE(third.stopped);
}

/// Others who train at once, when they are asked for results.
class Fake final : public Helpers {
 public:
  Fake(const TrialRunner& runner, std::size_t places) : runner_(runner), places_(places) {}
  [[nodiscard]] bool is_one_free() const override { return given_.size() < places_; }
  void give(std::size_t group) override { given_.push_back(group); }
  std::optional<std::vector<TrialResult>> collect() override {
    if (fails) throw InvalidArgument("rank 1 failed", "Look", Where::in("here"));
    if (given_.empty()) return std::nullopt;
    const std::size_t group = given_.front();
    given_.pop_front();
    ++trained;
    Observer quiet;
    return runner_.run(group, quiet);
  }
  [[nodiscard]] std::size_t in_work() const override { return given_.size(); }
  [[nodiscard]] bool has_one_left() const override { return trained >= leaves_after; }
  [[nodiscard]] unsigned workers() const override { return static_cast<unsigned>(places_); }

  std::size_t trained = 0, leaves_after = 1000;
  bool fails = false;

 private:
  const TrialRunner& runner_;
  std::size_t places_;
  std::deque<std::size_t> given_;
};

TEST_F(RunStudyTest, HelpersTakeFromTheSameList) {
  Ledger of = ledger("helped");
  Fake helpers(runner, 2);
  Observer quiet;
  const RunReport report = run_study(runner, of, 1, quiet, &helpers);
  EXPECT_EQ(report.finished, 12U);
  EXPECT_FALSE(report.stopped);
  EXPECT_GE(helpers.trained, 1U);
  EXPECT_EQ(of.workers(), 3U);
  expect_whole(of);
}

TEST_F(RunStudyTest, ARunEndsWithAHelperWhoLeaves) {
  Ledger of = ledger("left");
  Fake helpers(runner, 1);
  helpers.leaves_after = 1;
  Observer quiet;
  const RunReport report = run_study(runner, of, 1, quiet, &helpers);
  EXPECT_EQ(report.stopped, report.finished < 12U);
  EXPECT_EQ(trials_of(of).size(), report.finished);
  (void)run_study(runner, of, 2, quiet);
  expect_whole(of);
}

TEST_F(RunStudyTest, AFailureOfAHelperIsThrown) {
  Ledger of = ledger("failed");
  Fake helpers(runner, 1);
  helpers.fails = true;
  Observer quiet;
  EXPECT_THROW((void)run_study(runner, of, 1, quiet, &helpers), InvalidArgument);
}

TEST(GroupQueue, GroupsThatFollowEachOtherTakeNoRoom) {
  GroupQueue queue;
  for (std::size_t group = 0; group < 1'000'000; ++group) {
    if (group != 700'000) queue.put(group);  // trained already
  }
  queue.close();
  EXPECT_EQ(queue.size(), 999'999U);
  for (std::size_t group = 0; group < 1'000'000; ++group) {
    if (group == 700'000) continue;
    ASSERT_EQ(queue.take(), group);
  }
  EXPECT_EQ(queue.take(), std::nullopt);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(GroupQueue, HandsOutInOrderUntilClosed) {
  GroupQueue queue;
  queue.put(3);
  queue.put(1);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.take(), 3U);
  EXPECT_EQ(queue.take_now(), 1U);
  EXPECT_EQ(queue.take_now(), std::nullopt);
  std::jthread later([&] { queue.put(7); });
  EXPECT_EQ(queue.take(), 7U);  // waits
  std::jthread end([&] { queue.close(); });
  EXPECT_EQ(queue.take(), std::nullopt);
}

}  // namespace
}  // namespace sfumato::lab
