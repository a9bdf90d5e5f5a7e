#pragma once

#include <cstdint>
#include <map>

namespace sfumato {

/// Which look at a growing ledger an audit is. The number of runs that a level is meant for is fixed by
/// the study; who looks before the end may look again, so the level is split over the looks
/// (level_of_look() of audit/score_audit.hpp).
struct Look {
  std::uint64_t number = 1;
  bool splits = false;  ///< the level: this look is not the first, or will not be the last
  bool is_new = true;   ///< no look at as many trials was recorded before
};

/// `looks` are the numbers of trials that earlier looks saw, by number. A look at as many trials as an
/// earlier one sees the same: it is that look. `least` is what the user knows of looks that are not
/// recorded: this one has at least that number.
[[nodiscard]] Look look_at(const std::map<std::uint64_t, std::uint64_t>& looks,
                           std::uint64_t trials, std::uint64_t planned, std::uint64_t least = 1);

}  // namespace sfumato
