#pragma once

#include "sfumato/core/parallel.hpp"

namespace sfumato {

/// While it lives, what this thread reads of files and pipes ends with Stopped once the observer asks to stop: readers stand below
/// everything else and wait for others (a pipe that nobody writes to), and hundreds of calls lead to them.
class InputWatch {
 public:
  explicit InputWatch(const Observer& observer) : before_(watching) { watching = &observer; }
  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;
  ~InputWatch() { watching = before_; }

  /// Throws   Stopped if this thread's observer asked to stop.
  static void look() {
    if (watching != nullptr) throw_if_stopped(*watching);
  }

 private:
  inline static thread_local const Observer* watching = nullptr;
  const Observer* before_;
};

}  // namespace sfumato
