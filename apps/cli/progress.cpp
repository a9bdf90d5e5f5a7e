#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "sfumato/core/clock_text.hpp"

namespace sfumato::apps {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuietOnTerminal = 2s;
constexpr auto kBetweenLines = 10s;
constexpr auto kBetweenLooks = 100ms;
constexpr std::size_t kBarWidth = 24;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask_to_stop(int) { stop_flag.store(true, std::memory_order_relaxed); }

bool is_capable_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

double in_seconds(TerminalObserver::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Done in percent, rounded down: 100 means finished.
std::size_t percent_of(std::uint64_t done, std::uint64_t total) {
  if (done >= total) return total == 0 ? 0 : 100;
  return std::min<std::size_t>(
      99, static_cast<std::size_t>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
}

}  // namespace

TerminalObserver::TerminalObserver()
    : TerminalObserver(stderr, is_capable_terminal(stderr), [] { return Clock::now(); }) {}

static_assert(std::size(kSignals) == 3);  // as many as previous_ keeps

TerminalObserver::TerminalObserver(std::FILE* stream, bool is_terminal,
                                   std::function<Clock::time_point()> now)
    : stream_(stream),
      is_terminal_(is_terminal),
      now_(std::move(now)),
      start_(now_()),
      next_look_(start_.time_since_epoch().count()),
      stage_start_(start_),
      last_line_(start_) {
  stop_flag = false;
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  // RESETHAND: the second signal finds the default action, which ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

TerminalObserver::~TerminalObserver() {
  finish();
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &previous_[i], nullptr);
  }
}

bool TerminalObserver::stop_requested() const { return stop_flag.load(std::memory_order_relaxed); }

void TerminalObserver::progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  const Clock::time_point now = now_();
  if (now.time_since_epoch().count() < next_look_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  next_look_.store((now + kBetweenLooks).time_since_epoch().count(), std::memory_order_relaxed);
  if (stage != stage_ || total != total_) {  // another training may have the same name
    stage_ = stage;
    stage_start_ = now;
    first_done_ = done;
    done_ = done;
  }
  done_ = std::max(done_, done);  // threads may report out of order
  total_ = total;
  if (is_terminal_) {
    if (now - start_ > kQuietOnTerminal) draw_bar(now);
  } else if (now - last_line_ >= kBetweenLines) {
    write_line(now);
  }
}

void TerminalObserver::record(std::string_view topic, std::string_view message) {
  const std::lock_guard lock(mutex_);
  records_.emplace_back(topic, message);
}

std::vector<std::pair<std::string, std::string>> TerminalObserver::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

void TerminalObserver::finish() {
  const std::lock_guard lock(mutex_);
  if (!bar_is_drawn_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  bar_is_drawn_ = false;
}

std::string TerminalObserver::rate_and_eta(Clock::time_point now) const {
  const double elapsed = in_seconds(now - stage_start_);
  if (done_ <= first_done_ || elapsed <= 0.0) return {};
  const double rate = static_cast<double>(done_ - first_done_) / elapsed;
  std::string text =
      rate < 100.0 ? fmt::format("  {:.3g}/s", rate) : fmt::format("  {:.0f}/s", rate);
  if (total_ <= done_) return text;
  return fmt::format("{}  ETA {}", text, clock_text(static_cast<double>(total_ - done_) / rate));
}

void TerminalObserver::draw_bar(Clock::time_point now) {
  if (stop_requested() && !stop_is_announced_) {
    fmt::print(stream_, "\r\x1b[Kstopping at the next safe point; Ctrl-C again to end at once\n");
    stop_is_announced_ = true;
  }
  const std::size_t percent = percent_of(done_, total_);
  const std::size_t filled = kBarWidth * percent / 100;
  std::string line = fmt::format("{} [{:#<{}}{:.<{}}] {:3}%  {}/{}{}", stage_, "", filled, "",
                                 kBarWidth - filled, percent, done_, total_, rate_and_eta(now));
  // One column short of the edge: a full line would wrap and could not be redrawn.
  line.resize(std::min(line.size(), terminal_width(stream_) - 1));
  fmt::print(stream_, "\r{}\x1b[K", line);
  std::fflush(stream_);
  bar_is_drawn_ = true;
}

void TerminalObserver::write_line(Clock::time_point now) {
  fmt::print(stream_, "{}: {}/{} ({}%){}\n", stage_, done_, total_, percent_of(done_, total_),
             rate_and_eta(now));
  std::fflush(stream_);
  last_line_ = now;
}

}  // namespace sfumato::apps
