#pragma once

#include "sfumato/answers/design/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// In full: what the design is, what it achieves and how far it can be from the best, where the noise goes, or the
/// frontier or the rounds, and what it must not be used for. In brief: cost, gain and certificate.
[[nodiscard]] Document document_of(const DesignAnswer& answer, Detail detail);

}  // namespace sfumato
