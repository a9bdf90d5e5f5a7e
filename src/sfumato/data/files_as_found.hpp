#pragma once

#include <string>
#include <vector>

namespace sfumato {

/// Locks of directories against all who take them too, until they go. The system drops them whatever ends the process.
class DirectoryLocks {
 public:
  /// Waits for ten seconds. A directory that the system cannot lock (some network file systems, or it may not be read) is not.
  /// Throws   StorageError if another process has one for longer.
  explicit DirectoryLocks(const std::vector<std::string>& directories);
  DirectoryLocks(const DirectoryLocks&) = delete;
  DirectoryLocks& operator=(const DirectoryLocks&) = delete;
  DirectoryLocks(DirectoryLocks&&) noexcept = default;
  ~DirectoryLocks();

 private:
  std::vector<int> descriptors_;
};

/// Files that belong together, as they were when a command looked whether it may write them. While it worked another run may have written there, and what was decided then does
/// not hold any more: two runs of one name would leave the model of one beside the account of the other.
class FilesAsFound {
 public:
  /// Empty paths, and what is no regular file, are left out.
  explicit FilesAsFound(const std::vector<std::string>& paths);

  /// For as long as the locks live nobody else who asks for them writes there.
  /// Throws   StorageError if a file has changed, come or gone; as DirectoryLocks.
  [[nodiscard]] DirectoryLocks still_so() const;

 private:
  struct File {
    std::string path;
    std::string digest;  ///< empty: there was none
  };
  std::vector<File> files_;
};

}  // namespace sfumato
