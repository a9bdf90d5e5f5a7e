#pragma once

#include "sfumato/answers/audit/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

[[nodiscard]] Document document_of(const AuditAnswer& answer, Detail detail);

}  // namespace sfumato
