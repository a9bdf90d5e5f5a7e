#include "sfumato/core/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kShare = 0.5;
constexpr double kNothing =
    0x1p24;  // 16 MiB: less than what a process takes by itself, never refused

/// The first number after `key` in a file of lines, in bytes.
double number_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream rest(line.substr(key.size()));
    double value = kInf;
    std::string unit;
    if (!(rest >> value)) return kInf;
    return rest >> unit && unit == "kB" ? 1024.0 * value : value;
  }
  return kInf;
}

/// The memory that the control group of this process has left; "max" reads as no limit.
double left_in_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string folder = "/sys/fs/cgroup" + line.substr(3);
    const double most = number_in((folder + "/memory.max").c_str(), "");
    if (most == kInf) return kInf;
    const double used = number_in((folder + "/memory.current").c_str(), "");
    const double cached = number_in((folder + "/memory.stat").c_str(), "file ");
    return std::max(0.0, most - (used < kInf ? used : 0.0) + (cached < kInf ? cached : 0.0));
  }
  return kInf;
}

double left_of_addresses() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kInf;
  const double taken = number_in("/proc/self/status", "VmSize:");
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - (taken < kInf ? taken : 0.0));
}

std::string size_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6)
                     : fmt::format("{:.3g} GB", bytes / 1e9);
}

}  // namespace

double available_memory() {
  return std::min(
      {number_in("/proc/meminfo", "MemAvailable:"), left_in_group(), left_of_addresses()});
}

void require_memory(double bytes, const std::string& what, const std::string& remedy,
                    const Where& where) {
  if (bytes <= kNothing) return;
  require_memory(bytes, available_memory(), what, remedy, where);
}

void require_memory(double bytes, double available, const std::string& what,
                    const std::string& remedy, const Where& where) {
  if (bytes <= kNothing || bytes <= kShare * available) return;
  throw InvalidArgument(
      fmt::format("{} needs about {} of memory; {} are available, of which half may be used", what,
                  size_text(bytes), size_text(available)),
      remedy, where);
}

}  // namespace sfumato
