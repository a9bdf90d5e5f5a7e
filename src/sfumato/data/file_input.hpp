#pragma once

#include <cstdint>
#include <string>

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

/// Larger files are refused: they are not tables or matrices that fit in memory.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{4} << 30;

/// Pipes and devices do not say where they end; this keeps an endless one well below a machine's memory.
inline constexpr std::uint64_t kLargestPipe = std::uint64_t{1} << 30;

/// The bytes of a file (or of a pipe, until it ends), read once: what others do to the file afterwards
/// changes nothing.
///
/// Throws   InvalidArgument if the file is missing, a directory, not readable, larger than `limit`
///          (what is no regular file: than the smaller of `limit` and kLargestPipe) or changed while it
///          was read, or if it takes more than half of the available memory; StorageError if the system fails while
///          reading; Stopped as InputWatch.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t limit = kLargestFile);

/// The bytes of standard input, until it ends.
///
/// Throws   InvalidArgument if it is closed, a terminal or a directory, or larger than read_file() allows;
///          StorageError if the system fails while reading.
[[nodiscard]] std::string read_standard_input(std::uint64_t limit = kLargestFile);

}  // namespace sfumato
