#pragma once

#include <cstdint>
#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// A delta above 1 / records allows what nobody means by privacy: publishing each record with that probability, and so one of them on average.
/// Throws   InvalidArgument at `where` unless it is `allowed`.
void require_small_delta(double delta, std::uint64_t records, bool allowed,
                         const Where& where = Where::key("target_delta"));

/// A warning where delta is above 1 / (10 records); else empty.
[[nodiscard]] std::string large_delta_warning(double delta, std::uint64_t records);

}  // namespace sfumato
