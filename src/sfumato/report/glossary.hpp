#pragma once

#include <string_view>
#include <vector>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// A word of the field and what it means here.
struct Term {
  std::string_view term;
  std::string_view meaning;
};

/// The terms that explain something the documents call by a key (a command, a column, a number), in alphabetical order.
[[nodiscard]] std::vector<Term> glossary_for(const std::vector<Document>& documents);

}  // namespace sfumato
