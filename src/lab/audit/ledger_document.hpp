#pragma once

#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// The audit of a ledger as `audit` prints it and as `report` makes a chapter of it: the verdicts, each with its
/// policy, then what is proven, estimated and shown. Models of D and D' have losses, figures and attacks besides;
/// those that coins made have their own tables.
[[nodiscard]] Document document_of(const LedgerAudit& audit, Detail detail);

}  // namespace sfumato::lab
