#include "lab/study/scheduler/worker_pool.hpp"

#include <algorithm>
#include <iterator>

#include "sfumato/core/parallel.hpp"

namespace sfumato::lab {
namespace {

/// What a thread asks while it trains: whether to stop, for whatever reason.
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

}  // namespace

void GroupQueue::put(std::size_t group) {
  {
    const std::lock_guard lock(mutex_);
    if (!ranges_.empty() && ranges_.back().end == group) {
      ++ranges_.back().end;
    } else {
      ranges_.push_back({group, group + 1});
    }
    ++size_;
  }
  changed_.notify_one();
}

void GroupQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::optional<std::size_t> GroupQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || size_ != 0; });
  return first();
}

std::optional<std::size_t> GroupQueue::take_now() {
  const std::lock_guard lock(mutex_);
  return first();
}

std::optional<std::size_t> GroupQueue::first() {
  if (size_ == 0) return std::nullopt;
  --size_;
  Range& range = ranges_.front();
  const std::size_t group = range.begin++;
  if (range.begin == range.end) ranges_.pop_front();
  return group;
}

std::size_t GroupQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

WorkerPool::WorkerPool(const TrialRunner& runner, GroupQueue& queue, unsigned threads,
                       const Observer& user)
    : runner_(runner), queue_(queue), threads_left_(threads) {
  pool_ = start_threads(threads, [this, &user](std::uint64_t) {
    WorkerObserver observer(user, ended_);
    work(observer);
  });
  if (pool_.empty() && threads != 0) {
    throw InvalidArgument("the system lets no further thread start",
                          "Raise the limit of processes (ulimit -u) or end some",
                          Where::in("study run"));
  }
  const std::lock_guard lock(mutex_);
  threads_left_ -= threads - pool_.size();  // those that the system refused
}

WorkerPool::~WorkerPool() {
  ended_ = true;
  queue_.close();
}

void WorkerPool::work(Observer& observer) {
  std::exception_ptr problem;
  try {
    while (!observer.stop_requested()) {
      const std::optional<std::size_t> group = queue_.take();
      if (!group) break;
      std::vector<TrialResult> results = runner_.run(*group, observer);
      if (results.empty()) continue;  // stopped
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(results));
      changed_.notify_one();
    }
  } catch (...) {
    problem = std::current_exception();
    ended_ = true;
  }
  const std::lock_guard lock(mutex_);
  --threads_left_;
  if (problem && !problem_) problem_ = problem;
  changed_.notify_one();
}

std::optional<std::vector<TrialResult>> WorkerPool::collect(
    std::optional<std::chrono::milliseconds> patience) {
  std::unique_lock lock(mutex_);
  if (patience) {
    changed_.wait_for(lock, *patience, [&] { return !results_.empty(); });
  } else {
    changed_.wait(lock, [&] { return !results_.empty() || threads_left_ == 0; });
  }
  if (results_.empty()) return std::nullopt;
  std::vector<TrialResult> all = std::move(results_.front());
  for (std::size_t i = 1; i < results_.size(); ++i) {
    std::move(results_[i].begin(), results_[i].end(), std::back_inserter(all));
  }
  results_.clear();
  return all;
}

std::optional<std::vector<TrialResult>> WorkerPool::collect_one(
    std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !results_.empty(); });
  if (results_.empty()) return std::nullopt;
  std::vector<TrialResult> one = std::move(results_.front());
  results_.pop_front();
  return one;
}

bool WorkerPool::is_done() const {
  const std::lock_guard lock(mutex_);
  return threads_left_ == 0 && results_.empty();
}

void WorkerPool::rethrow_problem() const {
  const std::lock_guard lock(mutex_);
  if (problem_) std::rethrow_exception(problem_);
}

}  // namespace sfumato::lab
