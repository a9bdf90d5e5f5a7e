#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

/// The candidate that a mistyped `word` most probably meant, or nothing when none is near.
///
/// Near means: equal up to case; or at most a third of the longer word's letters inserted, deleted,
/// exchanged or swapped with their neighbour (at least one, never all of them); or the only candidate
/// that extends a `word` of three or more letters. The first of equally near candidates wins.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

/// The remedy for an unknown `word`: "Did you mean `x`?" or, when nothing is near, the list of what
/// is known: "Known keys: `a`, `b`". `kind` is the plural of what the candidates are.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     const std::vector<std::string>& candidates,
                                     std::string_view kind = "keys");

}  // namespace sfumato
