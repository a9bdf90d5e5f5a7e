#include "watched.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "sfumato/data/file_input.hpp"

namespace sfumato::python {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

struct Progress {
  std::string stage;
  std::uint64_t done = 0, total = 0;
};

/// Keeps the last that it was told, for a thread that asks.
class Watch : public Observer {
 public:
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    const std::lock_guard lock(mutex_);
    latest_ = {std::string(stage), done, total};
    changed_ = true;
  }
  [[nodiscard]] bool stop_requested() const override { return stop_.load(); }

  void stop() { stop_ = true; }

  /// Waits until the work has ended, but not longer than a moment.
  bool ended_soon() {
    std::unique_lock lock(mutex_);
    return ended_condition_.wait_for(lock, kLook, [this] { return ended_; });
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ended_condition_.notify_one();
  }
  bool take(Progress& into) {
    const std::lock_guard lock(mutex_);
    if (changed_) into = latest_;
    return std::exchange(changed_, false);
  }

 private:
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable ended_condition_;
  Progress latest_;
  bool changed_ = false, ended_ = false;
};

/// What Python has to say meanwhile; with the GIL.
void look(nb::handle progress, Watch& watch) {
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  Progress latest;
  if (progress.is_none() || !watch.take(latest)) return;
  progress(latest.stage, latest.done, latest.total);
}

}  // namespace

void watched(nb::handle progress, const std::function<void(Observer&)>& work) {
  Watch watch;
  std::exception_ptr failure, raised;
  {
    nb::gil_scoped_release release;
    const std::jthread worker([&] {
      try {
        const InputWatch input(watch);
        work(watch);
      } catch (const Stopped&) {  // what Python raised is raised again
      } catch (...) {
        failure = std::current_exception();
      }
      watch.end();
    });
    while (!watch.ended_soon()) {
      nb::gil_scoped_acquire acquire;
      if (raised) continue;
      try {
        look(progress, watch);
      } catch (...) {
        raised = std::current_exception();
        watch.stop();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (raised) std::rethrow_exception(raised);
}

}  // namespace sfumato::python
