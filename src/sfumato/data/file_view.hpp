#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sfumato {

/// The bytes of a file, mapped into memory where it is a regular file: what is not touched is not read,
/// and the system may drop what was, so that a file larger than memory can be gone through. A pipe is
/// read as by read_file().
///
/// Assumes  nobody shortens the file while it is viewed.
class FileView {
 public:
  /// Throws   as read_file(), without a limit for regular files.
  explicit FileView(const std::string& path);
  FileView(FileView&& other) noexcept;
  FileView& operator=(FileView&& other) noexcept;
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  ~FileView();

  [[nodiscard]] std::string_view bytes() const {
    return mapped_ != nullptr ? std::string_view(mapped_, size_) : std::string_view(read_);
  }

 private:
  char* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string read_;  ///< of a pipe
};

}  // namespace sfumato
