// LD_PRELOAD: the n-th allocation finds no memory; fault_plan.hpp says how n is given. Operator new of
// libstdc++ and the allocators of Eigen, SQLite and zlib all end in one of these.
#include <cerrno>
#include <cstddef>

#include "fault_plan.hpp"

extern "C" {

// What glibc's own malloc and relatives are called inside.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

bool there_is_none() {
  if (sfumato::faults::next_call() == sfumato::faults::Fate::as_always) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return there_is_none() ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t number, std::size_t size) {
  return there_is_none() ? nullptr : __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) {
  // realloc(p, 0) frees p, which always goes well.
  return (memory == nullptr || size != 0) && there_is_none() ? nullptr
                                                             : __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return there_is_none() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* const got = memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}
}
