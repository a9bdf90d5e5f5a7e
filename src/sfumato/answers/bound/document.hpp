#pragma once

#include "sfumato/answers/bound/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// In full: one table of methods per time, the risk that follows, a figure, and what a reader must know. In
/// brief: one table of methods over the times, the best proven bound first, in the worse direction.
[[nodiscard]] Document document_of(const BoundAnswer& answer, Detail detail);

}  // namespace sfumato
