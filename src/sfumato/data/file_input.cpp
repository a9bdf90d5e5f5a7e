#include "sfumato/data/file_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kReadStep = std::size_t{1} << 18;
constexpr int kBetweenLooks = 100;  // milliseconds

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void refuse_to_open(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw InvalidArgument(
      missing ? "there is no such file"
              : fmt::format("cannot be opened: {}", std::generic_category().message(error)),
      missing ? "Check the path and the working directory" : "Check the permissions",
      Where::in(path));
}

/// Whether somebody wrote to the file or cut it since `before`: what was read may then be a mixture.
bool has_changed(int file, const struct stat& before) {
  struct stat now = {};
  return ::fstat(file, &now) != 0 || now.st_size != before.st_size ||
         now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != before.st_mtim.tv_nsec;
}

/// A pipe without a writer must not be waited for in open() or read(), which a signal handler does not end.
int open_without_waiting(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0 || errno != EWOULDBLOCK) return file;
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // somebody holds a lease on a regular file
}

/// Until there is something to read, or nothing more to come. Throws Stopped if the user asked for it meanwhile.
void wait_for_input(int file) {
  pollfd wanted{file, POLLIN, 0};
  do {
    InputWatch::look();
  } while (::poll(&wanted, 1, kBetweenLooks) <= 0);
}

/// Everything that an open file, pipe or device holds; `path` is its name in messages.
std::string read_all(int file, const std::string& path, std::uint64_t limit) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) refuse_to_open(path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw InvalidArgument("is a directory, not a file", "Name a file in it", Where::in(path));
  }
  const bool is_regular = S_ISREG(status.st_mode);
  if (!is_regular) limit = std::min(limit, kLargestPipe);
  const auto too_large = [&] {
    return InvalidArgument(
        fmt::format("is larger than the limit of {} bytes{}", limit,
                    is_regular ? "" : " for pipes and devices"),
        is_regular ? "Check that this is the right file" : "Write it to a file and name that",
        Where::in(path));
  };
  const std::uint64_t stated = is_regular ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (stated > limit) throw too_large();
  require_memory(static_cast<double>(stated), "a file of this size",
                 "Read it in parts, or use a machine with more memory", Where::in(path));

  std::string bytes;
  std::size_t used = 0;
  // One step more than stated, so that the end of a regular file is met without growing. Memory is taken
  // step by step as it fills: what a resize sets to zero is still in the cache when it is read over.
  bytes.reserve(static_cast<std::size_t>(stated) + kReadStep);
  for (;;) {
    bytes.resize(used + kReadStep);
    if (is_regular) {
      InputWatch::look();
    } else {
      wait_for_input(file);
    }
    const ssize_t got = ::read(file, bytes.data() + used, kReadStep);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) {
      throw StorageError(fmt::format("cannot be read: {}", std::generic_category().message(errno)),
                         "Check the disk and the connection to it", Where::in(path));
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limit) throw too_large();
  }
  if (is_regular && has_changed(file, status)) {
    throw InvalidArgument("was changed while it was read", "Run again once it is written",
                          Where::in(path));
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t limit) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw InvalidArgument(fmt::format("the path {} names no file", shown(path)),
                          "Give the path of a file");
  }
  const Descriptor file(open_without_waiting(path));
  if (file.get() < 0) refuse_to_open(path, errno);
  return read_all(file.get(), path, limit);
}

std::string read_standard_input(std::uint64_t limit) {
  const std::string name = "standard input";
  if (::isatty(STDIN_FILENO) == 1) {
    throw InvalidArgument("is a terminal", "Pipe a file into it, or name a file", Where::in(name));
  }
  return read_all(STDIN_FILENO, name, limit);
}

}  // namespace sfumato
