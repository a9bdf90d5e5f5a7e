// LD_PRELOAD: the n-th call that opens, reads, writes, flushes, names or maps a file goes wrong;
// fault_plan.hpp says how n is given, and how wrong.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include "fault_plan.hpp"

namespace {

using sfumato::faults::Fate;
using sfumato::faults::fault_is;

/// The function that this one takes the place of.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Whether a call may go on; errno says why not. `adds`: it takes room on the disk.
bool refused(const char* function, bool adds) {
  switch (sfumato::faults::next_call(function)) {
    case Fate::as_always: return false;
    case Fate::fails: errno = adds && fault_is("ENOSPC") ? ENOSPC : EIO; return true;
    case Fate::kills:
    case Fate::tears: break;
  }
  (void)std::raise(SIGKILL);
  return true;
}

/// A call that moves bytes.
template <class Move>
ssize_t moved(const char* function, std::size_t size, bool adds, Move&& move) {
  switch (sfumato::faults::next_call(function)) {
    case Fate::as_always: return move(size);
    case Fate::fails:
      if (fault_is("short") && size > 1) return move(size / 2);
      errno = adds && fault_is("ENOSPC") ? ENOSPC : EIO;
      return -1;
    case Fate::tears:
      if (adds) (void)move(size / 2);
      break;
    case Fate::kills: break;
  }
  (void)std::raise(SIGKILL);
  return -1;
}

}  // namespace

// SQLite and libstdc++ are built for large files, others need not be: each function has two names.
#define SFUMATO_OPEN(name)                                               \
  int name(const char* path, int flags, ...) {                           \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                        \
    if (refused(__func__, (flags & O_CREAT) != 0)) return -1;            \
    static const auto real = next<int(const char*, int, ...)>(#name);    \
    return real(path, flags, mode);                                      \
  }
#define SFUMATO_FOPEN(name)                                                \
  FILE* name(const char* path, const char* mode) {                         \
    if (refused(__func__, mode[0] != 'r')) return nullptr;                 \
    static const auto real = next<FILE*(const char*, const char*)>(#name); \
    return real(path, mode);                                               \
  }
#define SFUMATO_PREAD(name)                                                                       \
  ssize_t name(int file, void* bytes, std::size_t size, off_t at) {                               \
    static const auto real = next<ssize_t(int, void*, std::size_t, off_t)>(#name);                \
    return moved(__func__, size, false, [&](std::size_t n) { return real(file, bytes, n, at); }); \
  }
#define SFUMATO_PWRITE(name)                                                                     \
  ssize_t name(int file, const void* bytes, std::size_t size, off_t at) {                        \
    static const auto real = next<ssize_t(int, const void*, std::size_t, off_t)>(#name);         \
    return moved(__func__, size, true, [&](std::size_t n) { return real(file, bytes, n, at); }); \
  }
#define SFUMATO_TRUNCATE(name)                             \
  int name(int file, off_t size) noexcept {                \
    if (refused(__func__, true)) return -1;                \
    static const auto real = next<int(int, off_t)>(#name); \
    return real(file, size);                               \
  }
// Memory without a file is fail_memory's.
#define SFUMATO_MMAP(name)                                                                 \
  void* name(void* at, std::size_t size, int protection, int flags, int file,              \
             off_t offset) noexcept {                                                      \
    if (file >= 0 && refused(__func__, false)) return MAP_FAILED;                          \
    static const auto real = next<void*(void*, std::size_t, int, int, int, off_t)>(#name); \
    return real(at, size, protection, flags, file, offset);                                \
  }

extern "C" {

SFUMATO_OPEN(open)
SFUMATO_OPEN(open64)
SFUMATO_FOPEN(fopen)
SFUMATO_FOPEN(fopen64)
SFUMATO_PREAD(pread)
SFUMATO_PREAD(pread64)
SFUMATO_PWRITE(pwrite)
SFUMATO_PWRITE(pwrite64)
SFUMATO_TRUNCATE(ftruncate)
SFUMATO_TRUNCATE(ftruncate64)
SFUMATO_MMAP(mmap)
SFUMATO_MMAP(mmap64)

ssize_t read(int file, void* bytes, std::size_t size) {
  static const auto real = next<ssize_t(int, void*, std::size_t)>("read");
  return moved(__func__, size, false, [&](std::size_t n) { return real(file, bytes, n); });
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto real = next<ssize_t(int, const void*, std::size_t)>("write");
  return moved(__func__, size, true, [&](std::size_t n) { return real(file, bytes, n); });
}

int fsync(int file) {
  if (refused(__func__, true)) return -1;
  static const auto real = next<int(int)>("fsync");
  return real(file);
}

int fdatasync(int file) {
  if (refused(__func__, true)) return -1;
  static const auto real = next<int(int)>("fdatasync");
  return real(file);
}

int close(int file) {
  static const auto real = next<int(int)>("close");
  const bool fails = refused(__func__, true);
  const int error = errno;
  const int result = real(file);  // Linux gives the descriptor back even so
  if (!fails) return result;
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  if (refused(__func__, true)) return -1;
  static const auto real = next<int(const char*, const char*)>("rename");
  return real(from, to);
}

int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  if (refused("rename", true)) return -1;  // one idea, whichever call has it
  static const auto real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return real(from_at, from, to_at, to, flags);
}

int link(const char* from, const char* to) noexcept {
  if (refused("rename", true)) return -1;  // a new name too
  static const auto real = next<int(const char*, const char*)>("link");
  return real(from, to);
}

int unlink(const char* path) noexcept {
  if (refused(__func__, false)) return -1;
  static const auto real = next<int(const char*)>("unlink");
  return real(path);
}

int fflush(FILE* file) {  // what prints the answer; libc writes without its own write()
  if (file == stdout && refused(__func__, true)) return EOF;
  static const auto real = next<int(FILE*)>("fflush");
  return real(file);
}
}
