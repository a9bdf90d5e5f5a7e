#pragma once

#include "lab/report/report_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What was written; the same in brief and in full.
[[nodiscard]] Document document_of(const ReportAnswer& answer, Detail detail);

}  // namespace sfumato::lab
