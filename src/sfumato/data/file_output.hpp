#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

/// How a file is written.
struct WriteRules {
  bool replace =
      true;  ///< false: refused, in one step with the renaming, where a file has come to be there
  unsigned mode = 0666;  ///< of a new file, less what the umask takes
};

/// The mode of what is private, by a program whose umask is not ours to change: for its owner alone.
inline constexpr unsigned kOwnersMode = 0600;

/// A file that appears whole or not at all: bytes go to a new sibling, which `commit()` flushes to the
/// disk and renames over `path`. Without commit() the destructor removes the sibling and an older
/// file stays as it was.
///
/// A symbolic link is followed. The file may be read by nobody who could not read the older one, nor by those whom the umask shuts out. What is not a regular file
/// (a pipe, /dev/stdout) is written directly.
///
/// Throws   StorageError with the path and the system's reason, from every function.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, const WriteRules& rules = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view bytes);
  /// At most once, after the last write.
  void commit();

 private:
  void open_sibling();
  void rename_sibling();
  void put(std::string_view bytes);
  void close();
  [[noreturn]] void fail(const char* action, int error) const;

  WriteRules rules_;
  std::string path_;       ///< as the user wrote it, for messages
  std::string target_;     ///< path_ with links followed
  std::string temporary_;  ///< empty when the target is written directly
  std::string buffer_;
  int descriptor_ = -1;
};

/// All of `bytes` as the new content of `path`.
void write_file(const std::string& path, std::string_view bytes, const WriteRules& rules = {});

/// Removes the siblings TARGET.tmp-PID-... that killed writers of `target` left. The living hold a lock on theirs (flock). A
/// maker that is not found may live in another container or on another host of a shared disk: a sibling that is a minute
/// old had time to be locked.
void remove_leftovers(const std::string& target);

/// Gives a file its name in one step, unless a file of that name is there.
/// Returns  0, EEXIST if there is one, or what the system says.
[[nodiscard]] int rename_to_new(const std::string& from, const std::string& to);

/// The rename itself must survive a crash, which takes a flush of the directory. Some file systems
/// cannot do that, and directories that may not be read cannot be opened for it; the file is whole either way.
/// Returns  0, or why the disk failed.
[[nodiscard]] int flush_directory_of(const std::string& path);

/// Refuses a path where there is a file already, unless `force`. Devices and pipes may be written to.
/// Throws   StorageError.
void require_new(const std::string& path, bool force);

/// A file that is going to be written, and the key that names it.
struct PlannedFile {
  std::string key, path;   ///< an empty path: not wanted
  bool continues = false;  ///< what stands there is continued by it: whoever plans it has looked
};

/// Refuses outputs that are an input or another output, by whatever links: before the work and before anything is written.
/// Throws   InvalidArgument at the key.
void require_apart(const std::vector<std::string>& inputs, const std::vector<PlannedFile>& outputs);

/// require_new(), and finds out whether the file can be written: before the work, not after it.
/// Throws   StorageError as OutputFile.
void prepare_output(const std::string& path, bool force);

}  // namespace sfumato
