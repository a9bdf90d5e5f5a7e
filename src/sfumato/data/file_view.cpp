#include "sfumato/data/file_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "sfumato/data/file_input.hpp"

namespace sfumato {

FileView::FileView(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (file >= 0 && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (address != MAP_FAILED) mapped_ = static_cast<char*>(address);
  }
  if (file >= 0) ::close(file);
  // Also what cannot be opened at all: read_file() says why.
  if (mapped_ == nullptr) read_ = read_file(path);
}

FileView::FileView(FileView&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      size_(other.size_),
      read_(std::move(other.read_)) {}

FileView& FileView::operator=(FileView&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(read_, other.read_);
  return *this;
}

FileView::~FileView() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

}  // namespace sfumato
