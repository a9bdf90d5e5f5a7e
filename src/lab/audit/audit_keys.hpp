#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/audit/audit_question.hpp"

namespace sfumato::lab {

[[nodiscard]] const Keys<AuditQuestion>& audit_keys();

/// Throws   InvalidArgument at a key whose value cannot be, is missing, or contradicts another.
void check(const AuditQuestion& question);

}  // namespace sfumato::lab
