#pragma once

#include <vector>

#include "sfumato/answers/audit/sandwich.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// For each policy delta over epsilon, from above and from below; where something is proven also the
/// trade-off curve that it leaves to attacks, with the audited points.
void add_sandwich_figures(Document& document, const std::vector<Sandwich>& policies);

}  // namespace sfumato
