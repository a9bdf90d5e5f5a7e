#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lab/study/trial_runner.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// Groups that wait to be trained. Threads take from it.
class GroupQueue {
 public:
  void put(std::size_t group);
  /// Nothing will be put any more.
  void close();
  /// The next group, waiting for one; nothing when the queue is closed and empty.
  std::optional<std::size_t> take();
  /// The same without waiting.
  std::optional<std::size_t> take_now();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Range {
    std::size_t begin, end;
  };
  std::optional<std::size_t> first();  ///< under the lock

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Range> ranges_;  ///< groups that follow each other take no room of their own
  std::size_t size_ = 0;
  bool closed_ = false;
};

/// Threads that take groups from a queue, train them to the end and lay the results down to be
/// collected. Which thread trains a group changes nothing in it.
class WorkerPool {
 public:
  /// `runner`, `queue` and `user` outlive the pool; `user` is asked whether to stop. Where the system
  /// allows fewer threads, those do the work.
  /// Throws   InvalidArgument if it allows none.
  WorkerPool(const TrialRunner& runner, GroupQueue& queue, unsigned threads, const Observer& user);
  /// Closes the queue and gives up what is being trained.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// All results that are there, of one group or, where groups are shorter than a commit takes, of
  /// several, waiting for them for `patience`; without it, until there are some or all threads
  /// have ended.
  std::optional<std::vector<TrialResult>> collect(
      std::optional<std::chrono::milliseconds> patience = std::nullopt);
  /// Those of a single group, waiting for them for `patience`: for who counts groups.
  std::optional<std::vector<TrialResult>> collect_one(std::chrono::milliseconds patience);
  /// Whether all threads have ended and all results are collected.
  [[nodiscard]] bool is_done() const;
  /// Throws what a thread ended with, if it was not the end of the queue.
  void rethrow_problem() const;

 private:
  void work(Observer& observer);

  const TrialRunner& runner_;
  GroupQueue& queue_;
  std::atomic<bool> ended_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<TrialResult>> results_;
  std::size_t threads_left_;
  std::exception_ptr problem_;
  std::vector<std::jthread> pool_;  ///< last: joined before the rest goes
};

}  // namespace sfumato::lab
