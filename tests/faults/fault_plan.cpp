#include "fault_plan.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sfumato::faults {
namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(sizeof(Counter) == 8 && Counter::is_always_lock_free);

Counter* counts = nullptr;  ///< calls, chosen ones; without it nothing is counted
std::uint64_t chosen = 0;
bool forever = false;
char with[16] = "EIO";
char only[64] = "";  ///< ",rename,fsync,"; empty: all

void read_plan() {
  const char* file = std::getenv("FAULT_COUNTS");
  if (file == nullptr) return;
  if (const char* at = std::getenv("FAULT_AT")) chosen = std::strtoull(at, nullptr, 10);
  forever = std::getenv("FAULT_FOREVER") != nullptr;
  if (const char* word = std::getenv("FAULT_WITH")) std::strncpy(with, word, sizeof with - 1);
  if (const char* names = std::getenv("FAULT_ONLY")) {
    only[0] = ',';
    std::strncpy(only + 1, names, sizeof only - 3);
    only[std::strlen(only)] = ',';
  }
  // System calls themselves: open and mmap are among the functions that are replaced.
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, file, O_RDWR);
  if (descriptor < 0) std::abort();
  constexpr long kReadWrite = 3, kShared = 1;  // PROT_READ | PROT_WRITE, MAP_SHARED
  const long address = ::syscall(SYS_mmap, 0L, 16L, kReadWrite, kShared, descriptor, 0L);
  if (address < 0 && address > -4096) std::abort();
  ::syscall(SYS_close, descriptor);
  counts = reinterpret_cast<Counter*>(address);
}

bool is_counted(const char* function) {
  if (only[0] == '\0') return true;
  const std::size_t length = std::strlen(function);
  for (const char* at = only; (at = std::strstr(at, function)) != nullptr; ++at) {
    if (at[-1] == ',' && at[length] == ',') return true;
  }
  return false;
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_plan();
  return real_main(argc, argv, environment);
}

}  // namespace

Fate next_call(const char* function) {
  if (counts == nullptr || !is_counted(function)) return Fate::as_always;
  const std::uint64_t number = ++counts[0];
  if (chosen == 0 || number < chosen || (number > chosen && !forever)) return Fate::as_always;
  ++counts[1];
  return fault_is("kill") ? Fate::kills : fault_is("torn") ? Fate::tears : Fate::fails;
}

bool fault_is(const char* word) { return std::strcmp(with, word) == 0; }

}  // namespace sfumato::faults

/// Takes the place of the function of libc that calls `main`.
extern "C" int __libc_start_main(sfumato::faults::Main main, int argc, char** argv, void (*init)(),
                                 void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  sfumato::faults::real_main = main;
  const auto next =
      reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(&sfumato::faults::counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
