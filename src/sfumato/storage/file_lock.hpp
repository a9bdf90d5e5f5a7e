#pragma once

#include <string>

namespace sfumato {

/// The lock of the process that adds to a file. It belongs to the open file, so the system drops it
/// whatever ends the process.
class FileLock {
 public:
  enum class Of {
    any_file,  ///< made if there is none
    new_file,  ///< refused if there is one
  };
  /// A file that is made is for its owner and, if the umask allows it, its group to read (0640).
  /// `path` is what messages call it.
  /// Throws   StorageError if the file cannot be opened for writing; InvalidArgument if another process has
  ///          the lock, or the file exists and should not.
  FileLock(const std::string& file, const std::string& path, Of which);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// Closes a descriptor of the file, which drops every POSIX lock of the process on it: close databases
  /// on it first.
  ~FileLock();

  /// Whether a process has the lock now.
  [[nodiscard]] static bool is_held(const std::string& file);

 private:
  int descriptor_ = -1;
};

}  // namespace sfumato
