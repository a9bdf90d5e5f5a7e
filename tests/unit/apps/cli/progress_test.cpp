#include "progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

namespace sfumato::apps {
namespace {

using namespace std::chrono_literals;
using Clock = TerminalObserver::Clock;

/// What an observer writes while `work` runs; `work` moves `now` on.
std::string written(bool is_terminal,
                    const std::function<void(TerminalObserver&, Clock::time_point& now)>& work) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&buffer, &size);
  Clock::time_point now{100s};
  {
    TerminalObserver observer(stream, is_terminal, [&] { return now; });
    work(observer, now);
  }
  std::fclose(stream);
  std::string text(buffer, size);
  std::free(buffer);
  return text;
}

TEST(TerminalObserver, ShortWorkShowsNothing) {
  for (const bool is_terminal : {false, true}) {
    EXPECT_EQ(written(is_terminal,
                      [](TerminalObserver& observer, Clock::time_point& now) {
                        for (unsigned i = 0; i <= 10; ++i, now += 190ms) {
                          observer.progress("rows", i, 10);
                        }
                      }),
              "");
  }
}

TEST(TerminalObserver, BarAfterTwoSecondsIsClearedAtTheEnd) {
  EXPECT_EQ(written(true,
                    [](TerminalObserver& observer, Clock::time_point& now) {
                      observer.progress("rows", 0, 100);
                      now += 2500ms;
                      observer.progress("rows", 25, 100);
                      now += 50ms;
                      observer.progress("rows", 26, 100);  // too soon to draw again
                    }),
            "\rrows [######..................]  25%  25/100  10/s  ETA 0:08\x1b[K\r\x1b[K");
}

TEST(TerminalObserver, OneLinePerTenSecondsInALog) {
  EXPECT_EQ(written(false,
                    [](TerminalObserver& observer, Clock::time_point& now) {
                      for (unsigned i = 0; i < 25; ++i, now += 1s)
                        observer.progress("rows", i, 7200);
                    }),
            "rows: 10/7200 (0%)  1/s  ETA 1:59:50\nrows: 20/7200 (0%)  1/s  ETA 1:59:40\n");
}

TEST(TerminalObserver, InterruptAsksToStopAndIsAnnounced) {
  const std::string text = written(true, [](TerminalObserver& observer, Clock::time_point& now) {
    EXPECT_FALSE(observer.stop_requested());
    std::raise(SIGINT);
    EXPECT_TRUE(observer.stop_requested());
    now += 3s;
    observer.progress("rows", 1, 2);
  });
  EXPECT_NE(text.find("stopping at the next safe point"), std::string::npos);
}

TEST(TerminalObserverDeathTest, SecondInterruptEndsTheProcess) {
  EXPECT_EXIT(written(true,
                      [](TerminalObserver&, Clock::time_point&) {
                        std::raise(SIGINT);
                        std::raise(SIGINT);
                      }),
              testing::KilledBySignal(SIGINT), "");
}

TEST(TerminalObserver, KeepsRecords) {
  TerminalObserver observer(stderr, false, [] { return Clock::now(); });
  observer.record("tolerance", "1e-9");
  ASSERT_EQ(observer.records().size(), 1u);
  EXPECT_EQ(observer.records()[0].first, "tolerance");
  EXPECT_EQ(observer.records()[0].second, "1e-9");
}

}  // namespace
}  // namespace sfumato::apps
