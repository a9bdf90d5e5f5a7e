#include "sfumato/study/scheduler/run_study.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace sfumato {
namespace {

/// What a worker asks while it trains: whether to stop, for whatever reason.
class WorkerObserver final : public Observer {
 public:
  WorkerObserver(const Observer& user, const std::atomic<bool>& ended)
      : user_(user), ended_(ended) {}
  [[nodiscard]] bool stop_requested() const override {
    return ended_.load(std::memory_order_relaxed) || user_.stop_requested();
  }

 private:
  const Observer& user_;
  const std::atomic<bool>& ended_;
};

/// Results on their way from the workers to the ledger.
class Mailbox {
 public:
  void put(std::vector<TrialResult> results) {
    {
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(results));
    }
    changed_.notify_one();
  }
  void leave(std::exception_ptr problem) {
    {
      const std::lock_guard lock(mutex_);
      --workers_;
      if (problem && !problem_) problem_ = problem;
    }
    changed_.notify_one();
  }
  /// The next results; none when all workers have left.
  std::optional<std::vector<TrialResult>> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !results_.empty() || workers_ == 0; });
    if (results_.empty()) return std::nullopt;
    std::vector<TrialResult> first = std::move(results_.front());
    results_.pop_front();
    return first;
  }
  void enter(unsigned workers) { workers_ = workers; }
  [[nodiscard]] std::exception_ptr problem() const { return problem_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<TrialResult>> results_;
  unsigned workers_ = 0;
  std::exception_ptr problem_;
};

}  // namespace

RunReport run_study(const TrialRunner& runner, Ledger& ledger, unsigned threads,
                    Observer& observer) {
  const std::set<TrialKey> held = ledger.finished();
  std::vector<std::size_t> left;
  RunReport report;
  for (std::size_t group = 0; group < runner.groups(); ++group) {
    const std::vector<TrialKey> keys = runner.keys(group);
    report.trials += keys.size();
    // Trials of a group are committed together, so one tells of all.
    if (held.contains(keys.front())) {
      report.before += keys.size();
    } else {
      left.push_back(group);
    }
  }
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(
      threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads, left.size()));
  if (workers != 0) ledger.record_workers(workers);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ended = false;
  Mailbox mailbox;
  mailbox.enter(workers);
  {
    std::vector<std::jthread> pool;
    for (unsigned i = 0; i < workers; ++i) {
      pool.emplace_back([&] {
        WorkerObserver quiet(observer, ended);
        std::exception_ptr problem;
        try {
          while (!quiet.stop_requested()) {
            const std::size_t at = next++;
            if (at >= left.size()) break;
            std::vector<TrialResult> results = runner.run(left[at], quiet);
            if (!results.empty()) mailbox.put(std::move(results));
          }
        } catch (...) {
          problem = std::current_exception();
          ended = true;
        }
        mailbox.leave(problem);
      });
    }
    try {
      observer.progress("trials", report.before, report.trials);
      while (const auto results = mailbox.take()) {
        ledger.commit(*results);
        report.finished += results->size();
        for (const TrialResult& trial : *results) {
          report.failed += trial.status == TrialStatus::failed ? 1 : 0;
        }
        observer.progress("trials", report.before + report.finished, report.trials);
      }
    } catch (...) {
      ended = true;  // no room for more: the workers need not finish
      throw;
    }
  }
  if (mailbox.problem()) std::rethrow_exception(mailbox.problem());
  report.stopped = observer.stop_requested();
  return report;
}

}  // namespace sfumato
