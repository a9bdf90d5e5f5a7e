#pragma once

#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// The answer in brief: the verdicts (of many the number, the worst first in the table), what each policy
/// shows, and the warnings that matter to it.
void add_brief(Document& document, const LedgerAudit& audit);

}  // namespace sfumato::lab
