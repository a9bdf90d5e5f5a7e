#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "sfumato/core/observer.hpp"

namespace sfumato {

/// Starts threads that call  work(0), work(1), ...:  `wanted` of them, or as many as the system allows
/// (`ulimit -u`, memory). What `work` throws ends the program: it must catch.
[[nodiscard]] std::vector<std::jthread> start_threads(
    std::uint64_t wanted, const std::function<void(std::uint64_t number)>& work);

/// How parallel_blocks cuts its work, and over how many threads.
struct BlockWork {
  std::string_view stage;  ///< what Observer::progress calls the work
  std::uint64_t count;     ///< indices 0 .. count - 1
  std::uint64_t block;     ///< indices a thread takes at a time, >= 1
  unsigned threads = 0;    ///< 0: as many as the machine has
};

/// Thrown by `work` to leave a block unfinished because the observer asked to stop.
struct Stopped {};

/// For work whose blocks take long: call it in each of its steps.
/// Throws   Stopped if the observer asked to stop.
inline void throw_if_stopped(const Observer& observer) {
  if (observer.stop_requested()) throw Stopped{};
}

/// Calls  work(first, last)  once for each block [first, last) of 0 .. count - 1; the threads take
/// blocks from a common counter. Blocks begin at multiples of `block` whatever the threads, so a
/// result that each block writes to slots of its own does not depend on their number.
///
/// Returns  how many of the first indices were done, without a gap: `count`, or fewer when the observer
///          asked to stop. Blocks that were begun are then finished unless they throw Stopped, the
///          others never called; a block after an unfinished one may be done without being counted.
/// Throws   what `work` or the observer throws first, after all threads have ended; InvalidArgument
///          if block is 0.
std::uint64_t parallel_blocks(
    const BlockWork& plan, Observer& observer,
    const std::function<void(std::uint64_t first, std::uint64_t last)>& work);

}  // namespace sfumato
