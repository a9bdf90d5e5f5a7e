#pragma once

#include "golden/golden_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::apps {

/// The counts, and the cases outside their tolerance: all of them in full, ten in brief.
[[nodiscard]] Document document_of(const VerifyAnswer& answer, Detail detail);

}  // namespace sfumato::apps
