#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// What tables call a policy of which nothing is claimed: "none (control)".
[[nodiscard]] inline std::string control_label(const std::string& policy) {
  return policy + " (control)";
}

/// A number for a reader in a hurry: taken from a table of the document, with what it means in words.
struct Headline {
  std::string label;  ///< "largest advantage (row 383)"
  Claimed<double> value;
  NumberStyle style = NumberStyle::general;
  std::string meaning;  ///< one or two sentences without symbols
};

/// The numbers that decide, found by the keys and claims of the tables: the largest exact or bounded
/// advantage, the largest audited epsilon, the gain of a design. Empty where there is none of them.
/// A control makes no headline: nothing is claimed of it.
[[nodiscard]] std::vector<Headline> headlines_of(const Document& document);

/// What a command answers, for people who do not use it: two sentences, or nothing if it is unknown.
[[nodiscard]] std::string_view purpose_of(std::string_view command);

}  // namespace sfumato
