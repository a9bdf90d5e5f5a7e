#pragma once

#include <cstdint>
#include <map>

#include "sfumato/lab/audit/options.hpp"

namespace sfumato::lab {

/// `looks` are the numbers of trials that earlier looks saw, by number. A look at as many trials as an
/// earlier one sees the same: it is that look. `least` is what the user knows of looks that are not
/// recorded: this one has at least that number.
[[nodiscard]] Look look_at(const std::map<std::uint64_t, std::uint64_t>& looks,
                           std::uint64_t trials, std::uint64_t planned, std::uint64_t least = 1);

}  // namespace sfumato::lab
