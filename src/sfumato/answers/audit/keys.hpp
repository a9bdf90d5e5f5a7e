#pragma once

#include "sfumato/answers/audit/question.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

[[nodiscard]] const Keys<AuditQuestion>& audit_keys();

/// Throws   InvalidArgument at a key whose value cannot be, is missing, or contradicts another.
void check(const AuditQuestion& question);

}  // namespace sfumato
