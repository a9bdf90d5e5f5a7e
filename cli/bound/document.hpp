#pragma once

#include <vector>

#include "bound/evaluate.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::cli {

/// One table of methods per time, the risk that follows, a figure, and what a reader must know.
[[nodiscard]] Document bound_document(const BoundProblem& problem,
                                      const std::vector<BoundsAtTime>& results, bool stopped);

}  // namespace sfumato::cli
