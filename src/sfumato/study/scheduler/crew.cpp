#include "sfumato/study/scheduler/crew.hpp"

#include <algorithm>
#include <iterator>

namespace sfumato {
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
    groups_.push_back(group);
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
  changed_.wait(lock, [&] { return closed_ || !groups_.empty(); });
  if (groups_.empty()) return std::nullopt;
  const std::size_t group = groups_.front();
  groups_.pop_front();
  return group;
}

std::optional<std::size_t> GroupQueue::take_now() {
  const std::lock_guard lock(mutex_);
  if (groups_.empty()) return std::nullopt;
  const std::size_t group = groups_.front();
  groups_.pop_front();
  return group;
}

std::size_t GroupQueue::size() const {
  const std::lock_guard lock(mutex_);
  return groups_.size();
}

Crew::Crew(const TrialRunner& runner, GroupQueue& queue, unsigned threads, const Observer& user)
    : runner_(runner), queue_(queue), threads_left_(threads) {
  for (unsigned i = 0; i < threads; ++i) {
    pool_.emplace_back([this, &user] {
      WorkerObserver observer(user, ended_);
      work(observer);
    });
  }
}

Crew::~Crew() {
  ended_ = true;
  queue_.close();
}

void Crew::work(Observer& observer) {
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

std::optional<std::vector<TrialResult>> Crew::collect(
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

std::optional<std::vector<TrialResult>> Crew::collect_one(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !results_.empty(); });
  if (results_.empty()) return std::nullopt;
  std::vector<TrialResult> one = std::move(results_.front());
  results_.pop_front();
  return one;
}

bool Crew::is_done() const {
  const std::lock_guard lock(mutex_);
  return threads_left_ == 0 && results_.empty();
}

void Crew::rethrow_problem() const {
  const std::lock_guard lock(mutex_);
  if (problem_) std::rethrow_exception(problem_);
}

}  // namespace sfumato
