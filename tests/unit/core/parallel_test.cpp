#include "sfumato/core/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(ParallelBlocks, EveryIndexOnceWhateverTheThreads) {
  Observer silent;
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    for (const std::uint64_t count : {0U, 1U, 63U, 64U, 65U, 1000U}) {
      std::vector<int> visits(count, 0);
      const std::uint64_t done = parallel_blocks({"work", count, 64, threads}, silent,
                                                 [&](std::uint64_t first, std::uint64_t last) {
                                                   EXPECT_EQ(first % 64, 0U);
                                                   EXPECT_LE(last - first, 64U);
                                                   for (auto i = first; i < last; ++i) ++visits[i];
                                                 });
      EXPECT_EQ(done, count);
      EXPECT_EQ(visits, std::vector<int>(count, 1));
    }
  }
}

/// Address space for about five stacks of threads more than the process has.
void leave_little_room() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t room = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{40} << 20U);
  const rlimit limit{room, room};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(2);
}

TEST(ParallelBlocksDeathTest, GoesOnWithFewerThreads) {
  const auto work = [] {
    leave_little_room();
    Observer silent;
    std::atomic<std::uint64_t> visits{0};
    const auto pool = start_threads(
        64, [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
    if (pool.size() >= 64) std::_Exit(3);  // the limit did not bite
    const std::uint64_t done = parallel_blocks({"work", 1000, 1, 64}, silent,
                                               [&](std::uint64_t, std::uint64_t) { ++visits; });
    std::_Exit(done == 1000 && visits == 1000 ? 0 : 1);
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "");
}

TEST(ParallelBlocks, FirstErrorArrivesAtTheCaller) {
  Observer silent;
  std::atomic<int> calls{0};
  const auto fail = [&](std::uint64_t first, std::uint64_t) {
    ++calls;
    if (first >= 5) throw std::runtime_error("block " + std::to_string(first));
  };
  EXPECT_THROW(parallel_blocks({"work", 1000, 1, 3}, silent, fail), std::runtime_error);
  EXPECT_LT(calls, 1000);
}

TEST(ParallelBlocks, ProgressReachesTheTotalAndStopIsObeyed) {
  struct Recorder : Observer {
    void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
      EXPECT_EQ(stage, "work");
      EXPECT_EQ(total, 10U);
      most = std::max(most, done);
    }
    [[nodiscard]] bool stop_requested() const override { return most >= limit; }
    std::uint64_t most = 0, limit = 100;
  };
  Recorder whole;
  EXPECT_EQ(parallel_blocks({"work", 10, 3, 1}, whole, [](auto, auto) {}), 10U);
  EXPECT_EQ(whole.most, 10U);
  Recorder stopped;
  stopped.limit = 4;
  std::uint64_t seen = 0;
  const auto count_up = [&](std::uint64_t first, std::uint64_t last) {
    EXPECT_EQ(first, seen);
    seen = last;
  };
  EXPECT_EQ(parallel_blocks({"work", 10, 3, 1}, stopped, count_up), 6U);
  EXPECT_EQ(seen, 6U);
}

TEST(ParallelBlocks, ABlockThatIsLeftIsNotCounted) {
  struct Recorder : Observer {
    [[nodiscard]] bool stop_requested() const override { return stop; }
    std::atomic<bool> stop{false};
  };
  Recorder observer;
  EXPECT_NO_THROW(throw_if_stopped(observer));
  const auto work = [&](std::uint64_t first, std::uint64_t) {
    if (first == 6) observer.stop = true;
    throw_if_stopped(observer);
  };
  EXPECT_EQ(parallel_blocks({"work", 10, 3, 1}, observer, work), 6U);
}

TEST(ParallelBlocks, WhatIsCountedIsDoneWhateverTheThreads) {
  struct Recorder : Observer {
    [[nodiscard]] bool stop_requested() const override { return stop; }
    std::atomic<bool> stop{false};
  };
  for (std::uint64_t last_block = 0; last_block < 40; ++last_block) {
    Recorder observer;
    std::vector<std::atomic<int>> visits(1000);
    const std::uint64_t done = parallel_blocks({"work", visits.size(), 7, 4}, observer,
                                               [&](std::uint64_t first, std::uint64_t last) {
                                                 if (first / 7 == last_block) observer.stop = true;
                                                 for (auto i = first; i < last; ++i) {
                                                   throw_if_stopped(observer);
                                                   ++visits[i];
                                                 }
                                               });
    EXPECT_LE(done, 7 * last_block);
    EXPECT_EQ(done % 7, 0U);
    for (std::uint64_t i = 0; i < done; ++i) EXPECT_EQ(visits[i], 1) << i;
  }
}

TEST(ParallelBlocks, Refusals) {
  Observer silent;
  EXPECT_THROW(parallel_blocks({"work", 10, 0}, silent, [](auto, auto) {}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
