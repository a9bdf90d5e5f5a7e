#include "sfumato/data/file_output.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

const char* remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "Free some space or write somewhere else";
    case EACCES:
    case EPERM:
    case EROFS: return "Choose a place where you can write";
    case ENOENT: return "Create the directory first";
    case ENOTDIR: return "Part of the path is a file: choose another one";
    case EINVAL: return "Give the path of a file";
    case EISDIR: return "Name a file in it";
    default: return "Check the path and the disk";
  }
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw StorageError("the file exists", "Choose another name, or overwrite it (`force`)",
                     Where::in(path));
}

/// Whether the process that made a sibling of this name, TARGET.tmp-PID-N, is gone.
bool maker_is_gone(const std::string& name, std::size_t prefix) {
  int process = 0;
  const auto [end, error] =
      std::from_chars(name.data() + prefix, name.data() + name.size(), process);
  if (error != std::errc{} || process <= 0) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

void remove_leftovers(const std::string& target) {
  const std::filesystem::path path(target);
  const std::string prefix = path.filename().string() + ".tmp-";
  // By readdir: std::filesystem ends the process where memory does, in an increment that may not throw.
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (entries == nullptr) return;
  const int at = ::dirfd(entries.get());
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const int file = ::openat(at, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    struct stat status = {};
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    const bool left =
        maker_is_gone(name, prefix.size()) || std::time(nullptr) - status.st_mtim.tv_sec > 60;
    if (regular && left && ::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(at, name.c_str(), 0);
    ::close(file);
  }
}

int flush_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int directory =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  const int error = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  const bool cannot_flush = error == EINVAL || error == ENOTSUP || error == EROFS;
  return cannot_flush ? 0 : error;
}

OutputFile::OutputFile(const std::string& path, const WriteRules& rules)
    : rules_(rules), path_(path), target_(path) {
  if (path.empty() || path.find('\0') != std::string::npos) fail("open", EINVAL);
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail("open", errno);
    open_sibling();
    return;
  }
  if (S_ISDIR(status.st_mode)) fail("open", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("open", errno);
    return;
  }
  if (!rules_.replace) refuse_existing(path);
  if (::access(path.c_str(), W_OK) != 0) fail("open", errno);
  std::error_code ignored;  // stat() succeeded, so the links lead somewhere
  if (const auto real = std::filesystem::canonical(path, ignored); !real.empty()) target_ = real;
  open_sibling();
  // What the older file allowed and a new one would: a file that was open to all does not stay so.
  struct stat fresh = {};
  if (::fstat(descriptor_, &fresh) != 0 ||
      ::fchmod(descriptor_, status.st_mode & fresh.st_mode & 0777u) != 0) {
    const int error = errno;
    close();
    ::unlink(temporary_.c_str());
    fail("set the permissions of", error);
  }
}

OutputFile::~OutputFile() {
  close();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_sibling() {
  remove_leftovers(target_);
  // Several writers of one path must not share a sibling: O_EXCL settles who gets which number.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string name = fmt::format("{}.tmp-{}-{}", target_, ::getpid(), attempt);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rules_.mode);
    if (descriptor_ >= 0) {
      temporary_ = name;
      ::flock(descriptor_, LOCK_EX | LOCK_NB);  // remove_leftovers() of others asks for it
      return;
    }
    if (errno != EEXIST) fail("create", errno);
  }
  fail("create", EEXIST);
}

void OutputFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  put(buffer_);
  buffer_.clear();
  put(bytes);
}

void OutputFile::put(std::string_view bytes) {
  if (descriptor_ < 0) throw InternalError(fmt::format("{} was written after its commit", path_));
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  put(buffer_);
  buffer_.clear();
  const bool direct = temporary_.empty();
  if (::fsync(descriptor_) != 0) {
    const bool cannot_flush = direct && (errno == EINVAL || errno == ENOTSUP || errno == EROFS);
    if (!cannot_flush) fail("write", errno);
  }
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 && errno != EINTR) fail("write", errno);
  if (direct) return;
  rename_sibling();
  temporary_.clear();
  if (const int error = flush_directory_of(target_); error != 0) fail("write", error);
}

void OutputFile::rename_sibling() {
  if (rules_.replace) {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace", errno);
    return;
  }
  // Of two runs that began when there was no file, the second to end finds that of the first.
  const int error = rename_to_new(temporary_, target_);
  if (error == EEXIST) refuse_existing(path_);
  if (error != 0) fail("name", error);
}

void OutputFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void OutputFile::fail(const char* action, int error) const {
  throw StorageError(
      fmt::format("cannot {} the file: {}", action, std::generic_category().message(error)),
      remedy_for(error), Where::in(path_.empty() ? "(no path)" : path_));
}

void write_file(const std::string& path, std::string_view bytes, const WriteRules& rules) {
  OutputFile file(path, rules);
  file.write(bytes);
  file.commit();
}

int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
  // A file system that cannot: a look before the renaming is all there is.
  struct stat status = {};
  if (::lstat(to.c_str(), &status) == 0) return EEXIST;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

void require_new(const std::string& path, bool force) {
  std::error_code ignored;
  if (force || !std::filesystem::is_regular_file(path, ignored)) return;
  refuse_existing(path);
}

namespace {

/// Whether both names lead to one file, by links of either kind; of a file that is not there yet, by its path.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::equivalent(a, b, failed)) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, failed), failed);
  const fs::path second = fs::weakly_canonical(fs::absolute(b, failed), failed);
  return !first.empty() && first == second;
}

/// Pipes and devices may be read and written, and written by several.
bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

}  // namespace

void require_apart(const std::vector<std::string>& inputs,
                   const std::vector<PlannedFile>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string &key = outputs[i].key, &path = outputs[i].path;
    if (path.empty() || is_stream(path)) continue;
    for (const std::string& input : inputs) {
      if (input.empty() || !same_file(input, path)) continue;
      throw InvalidArgument(fmt::format("{} is an input and would be overwritten", path),
                            "Choose another name", Where::key(key));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[j].path.empty() || !same_file(outputs[j].path, path)) continue;
      throw InvalidArgument(fmt::format("{} is also what `{}` writes", path, outputs[j].key),
                            "Give each a file of its own", Where::key(key));
    }
  }
}

void prepare_output(const std::string& path, bool force) {
  require_new(path, force);
  const OutputFile probe(path);  // never committed, so nothing stays behind
}

}  // namespace sfumato
