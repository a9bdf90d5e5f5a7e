#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger_audit/ledger_audit.hpp"

namespace sfumato {

/// The audit of a ledger as `audit` prints it and as `report` makes a chapter of it: the verdicts, each with its
/// policy, then what is proven, estimated and shown. Models of D and D' have losses, figures and attacks besides;
/// those that coins made have their own tables.
[[nodiscard]] Document document_of(const LedgerAudit& audit, Detail detail);

}  // namespace sfumato
