#pragma once

#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// Bytes that this process may still take: what the kernel calls available, what its control group leaves (cgroup 2), and what
/// RLIMIT_AS leaves, whichever is least; +infinity where none of them can be read.
[[nodiscard]] double available_memory();

/// Throws   InvalidArgument if `bytes` are more than half of what is available: `what` needs them. For work whose need is known
///          before it is allocated: beyond the memory of a machine the kernel kills processes without a word.
void require_memory(double bytes, const std::string& what, const std::string& remedy,
                    const Where& where = Where::here());

/// The same with a known available amount.
void require_memory(double bytes, double available, const std::string& what,
                    const std::string& remedy, const Where& where = Where::here());

}  // namespace sfumato
