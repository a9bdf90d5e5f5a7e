#include "sfumato/data/files_as_found.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(10);  // files are written in milliseconds

/// Empty: nothing is there.
std::string digest_of(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? sha256(read_file(path)) : "";
}

/// The directory that the file is in, links followed.
std::string directory_of(const std::string& path) {
  std::error_code failed;
  const fs::path file = fs::weakly_canonical(fs::absolute(path, failed), failed);
  return (failed ? fs::path(path) : file).parent_path().string();
}

}  // namespace

DirectoryLocks::DirectoryLocks(const std::vector<std::string>& directories) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  // In one order for all: two runs must not wait for each other.
  for (const std::string& directory : std::set(directories.begin(), directories.end())) {
    const int descriptor =
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) continue;
    descriptors_.push_back(descriptor);
    while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      if (std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        continue;
      }
      for (const int one : descriptors_) ::close(one);
      throw StorageError("another run is writing there, and does not come to an end",
                         "Wait for it, or choose another directory", Where::in(directory));
    }
  }
}

DirectoryLocks::~DirectoryLocks() {
  for (const int descriptor : descriptors_) ::close(descriptor);
}

FilesAsFound::FilesAsFound(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool is_other = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
    if (!path.empty() && !is_other) files_.push_back({path, digest_of(path)});
  }
}

DirectoryLocks FilesAsFound::still_so() const {
  std::vector<std::string> directories;
  directories.reserve(files_.size());
  for (const File& file : files_) directories.push_back(directory_of(file.path));
  DirectoryLocks locks(directories);
  for (const auto& [path, digest] : files_) {
    if (digest_of(path) == digest) continue;
    throw StorageError("was written by another run while this one worked",
                       "Nothing of this run was written. Give every run names of its own",
                       Where::in(path));
  }
  return locks;
}

}  // namespace sfumato
