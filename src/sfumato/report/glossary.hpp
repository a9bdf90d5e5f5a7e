#pragma once

#include <string_view>
#include <vector>

namespace sfumato {

/// A word of the field and what it means here.
struct Term {
  std::string_view term;
  std::string_view meaning;
};

/// The terms of which some spelling occurs in `text` (letters of either case, whole words), in
/// alphabetical order.
[[nodiscard]] std::vector<Term> glossary_for(std::string_view text);

}  // namespace sfumato
