#pragma once

#include <cstdint>
#include <string>

namespace sfumato {

/// A delta above 1 / records allows what nobody means by privacy: publishing each record with that probability, and so one of them on average.
/// Throws   InvalidArgument at `target_delta` unless it is `allowed`.
void require_small_delta(double delta, std::uint64_t records, bool allowed);

/// A warning where delta is above 1 / (10 records); else empty.
[[nodiscard]] std::string large_delta_warning(double delta, std::uint64_t records);

}  // namespace sfumato
