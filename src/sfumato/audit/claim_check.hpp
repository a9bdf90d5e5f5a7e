#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sfumato/audit/score_audit.hpp"

namespace sfumato {

enum class ClaimVerdict {
  violation,        ///< the lower bound is above the claim
  not_enough_runs,  ///< not even a perfect attack could have refuted the claim with these models
  not_refuted,      ///< the claim may hold; an audit never proves it
};

/// "VIOLATION", "NOT ENOUGH RUNS" or "PASS (not refuted)".
[[nodiscard]] std::string_view name(ClaimVerdict verdict);

/// What an audit says about a claimed (epsilon, delta).
struct ClaimCheck {
  ClaimVerdict verdict;
  Claimed<Epsilon> found;                    ///< at the claimed delta
  double cap;                                ///< what could have been found
  std::optional<std::uint64_t> runs_needed;  ///< per world, for a perfect attack; none: beyond 10^7
};

[[nodiscard]] ClaimCheck check_claim(const Audit& audit, Epsilon epsilon, Delta delta);

}  // namespace sfumato
