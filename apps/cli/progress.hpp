#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::apps {

/// Shows long work on a terminal and lets the user stop it.
///
/// On a terminal: a bar with rate and ETA, from two seconds after construction, redrawn at most ten
/// times per second and cleared at the end. Elsewhere (a log file): one line every ten seconds.
/// Nothing is shown for work that ends sooner.
///
/// While it lives, the first Ctrl-C (or SIGTERM, as batch systems send it, or SIGHUP, as a lost connection
/// does) makes stop_requested() true and the second ends the process, as the system does by default. Where
/// one of them is ignored (nohup), it stays so. At most one at a time: signals belong to the process.
class TerminalObserver final : public Observer {
 public:
  using Clock = std::chrono::steady_clock;

  /// Writes to stderr; a bar if stderr is a terminal that can redraw a line (TERM is not `dumb`).
  TerminalObserver();
  /// For tests: any stream, and time as the caller tells it.
  TerminalObserver(std::FILE* stream, bool is_terminal, std::function<Clock::time_point()> now);
  ~TerminalObserver() override;

  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override;
  void record(std::string_view topic, std::string_view message) override;
  [[nodiscard]] bool stop_requested() const override;

  /// Clears the bar; call it before printing a result. The destructor does so too.
  void finish();
  /// What was recorded so far, as (topic, message), to be stated in the result.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> records() const;

 private:
  void draw_bar(Clock::time_point now);
  void write_line(Clock::time_point now);
  [[nodiscard]] std::string rate_and_eta(Clock::time_point now) const;

  std::FILE* stream_;
  bool is_terminal_;
  std::function<Clock::time_point()> now_;
  Clock::time_point start_;
  struct sigaction previous_[3]{};  ///< what SIGINT, SIGTERM and SIGHUP did before

  std::atomic<Clock::rep> next_look_;  ///< calls before this time return at once, without the lock
  mutable std::mutex mutex_;           ///< guards everything below
  std::string stage_;
  std::uint64_t done_ = 0, total_ = 0;
  std::uint64_t first_done_ = 0;  ///< at stage_start_; work that was resumed does not start at 0
  Clock::time_point stage_start_;
  Clock::time_point last_line_;
  bool bar_is_drawn_ = false;
  bool stop_is_announced_ = false;
  InputWatch input_{*this};  ///< what this thread reads stops too
  std::vector<std::pair<std::string, std::string>> records_;
};

}  // namespace sfumato::apps
