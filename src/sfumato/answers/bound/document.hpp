#pragma once

#include <vector>

#include "sfumato/answers/bound/evaluate.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// One table of methods per time, the risk that follows, a figure, and what a reader must know.
[[nodiscard]] Document bound_document(const BoundProblem& problem,
                                      const std::vector<BoundsAtTime>& results, bool stopped);

}  // namespace sfumato
