#include "sfumato/storage/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

int make(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0640);
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0) {
    (void)::fchmod(descriptor, status.st_mode | S_IRUSR | S_IWUSR);  // if the umask took them away
  }
  return descriptor;
}

int open_or_make(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_size == 0 &&
      S_ISREG(status.st_mode)) {
    (void)::fchmod(descriptor, S_IRUSR | S_IWUSR);  // nothing is in it yet: as private as a new one
  }
  return descriptor < 0 && errno == ENOENT ? make(file, 0) : descriptor;
}

}  // namespace

FileLock::FileLock(const std::string& file, const std::string& path, Of which)
    : descriptor_(which == Of::new_file ? make(file, O_EXCL) : open_or_make(file)) {
  if (descriptor_ >= 0 && descriptor_ < 3) {
    // In a process whose standard output is closed: what it prints must not land in the file.
    const int low = std::exchange(descriptor_, ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 3));
    ::close(low);
  }
  if (descriptor_ < 0 && errno == EEXIST) {
    throw InvalidArgument("exists already", "Choose another name, or remove it first",
                          Where::in(path));
  }
  if (descriptor_ < 0) {
    throw StorageError(fmt::format("cannot be opened for writing ({})", std::strerror(errno)),
                       "Check the directory and its permissions", Where::in(path));
  }
  // Who asks is_held() has a lock for a moment.
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::usleep(10'000);
  }
  ::close(std::exchange(descriptor_, -1));
  throw InvalidArgument("is in use by another process",
                        "Wait for it to end, or give this run a ledger of its own",
                        Where::in(path));
}

FileLock::~FileLock() { ::close(descriptor_); }

bool FileLock::is_held(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

}  // namespace sfumato
