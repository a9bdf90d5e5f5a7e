#pragma once

#include "sfumato/answers/verify/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// The counts, and the cases outside their tolerance: all of them in full, ten in brief.
[[nodiscard]] Document document_of(const VerifyAnswer& answer, Detail detail);

}  // namespace sfumato
