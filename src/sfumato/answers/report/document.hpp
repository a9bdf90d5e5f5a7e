#pragma once

#include "sfumato/answers/report/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What was written; the same in brief and in full.
[[nodiscard]] Document document_of(const ReportAnswer& answer, Detail detail);

}  // namespace sfumato
