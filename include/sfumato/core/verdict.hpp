#pragma once

#include <algorithm>
#include <string_view>

namespace sfumato {

/// What became of a claim that was checked, from best to worst.
enum class Verdict {
  none,         ///< nothing was claimed
  holds,        ///< shown to be true
  not_refuted,  ///< the check could have refuted it and did not
  open,         ///< the check could not have refuted it
  violated,     ///< shown to be false, at the confidence stated beside it
};

/// "none", "holds", "not_refuted", "open" or "violated": how JSON names a verdict.
[[nodiscard]] std::string_view name(Verdict verdict);

/// The one that decides.
[[nodiscard]] inline Verdict worst(Verdict a, Verdict b) { return std::max(a, b); }

}  // namespace sfumato
