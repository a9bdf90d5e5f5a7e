#include "sfumato/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// State that the threads of one call share.
class Blocks {
 public:
  Blocks(const BlockWork& plan, Observer& observer,
         const std::function<void(std::uint64_t, std::uint64_t)>& work)
      : plan_(plan), observer_(observer), work_(work) {}

  void loop() {
    try {
      while (!failed_ && !observer_.stop_requested()) {
        const std::uint64_t number = next_.fetch_add(1);
        if (number >= blocks()) return;
        const std::uint64_t first = number * plan_.block;
        const std::uint64_t size = std::min(plan_.block, plan_.count - first);
        try {
          work_(first, first + size);
        } catch (const Stopped&) {
          leave(number);
          return;
        }
        const std::uint64_t done = done_.fetch_add(size) + size;
        observer_.progress(plan_.stage, done, plan_.count);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }

  [[nodiscard]] std::uint64_t blocks() const {
    return plan_.count / plan_.block + (plan_.count % plan_.block != 0 ? 1 : 0);
  }

  /// After the threads have ended.
  [[nodiscard]] std::uint64_t done() const {
    if (error_) std::rethrow_exception(error_);
    return unfinished_ ? *unfinished_ * plan_.block : done_.load();
  }

 private:
  void leave(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    unfinished_ = std::min(number, unfinished_.value_or(number));
  }

  const BlockWork& plan_;
  Observer& observer_;
  const std::function<void(std::uint64_t, std::uint64_t)>& work_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::optional<std::uint64_t> unfinished_;  ///< the first block that was left
};

}  // namespace

std::vector<std::jthread> start_threads(std::uint64_t wanted,
                                        const std::function<void(std::uint64_t number)>& work) {
  std::vector<std::jthread> pool;
  pool.reserve(wanted);
  try {
    for (std::uint64_t i = 0; i < wanted; ++i) pool.emplace_back([work, i] { work(i); });
  } catch (const std::system_error& error) {
    // EAGAIN: the limit of this user, or no memory for another stack.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
  }
  return pool;
}

std::uint64_t parallel_blocks(
    const BlockWork& plan, Observer& observer,
    const std::function<void(std::uint64_t first, std::uint64_t last)>& work) {
  if (plan.block == 0) throw InvalidArgument("blocks of 0 indices", "Pass block >= 1");
  Blocks blocks(plan, observer, work);
  const std::uint64_t wanted =
      plan.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : plan.threads;
  const std::uint64_t threads = std::min(wanted, std::max<std::uint64_t>(1, blocks.blocks()));
  {
    // This thread works too, so that there is always one.
    const auto pool = start_threads(threads - 1, [&blocks](std::uint64_t) { blocks.loop(); });
    blocks.loop();
  }
  return blocks.done();
}

}  // namespace sfumato
