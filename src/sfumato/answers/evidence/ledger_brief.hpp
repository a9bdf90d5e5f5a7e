#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger_audit/ledger_audit.hpp"

namespace sfumato {

/// The answer in brief: the verdicts (of many the number, the worst first in the table), what each policy
/// shows, and the warnings that matter to it.
void add_brief(Document& document, const LedgerAudit& audit);

}  // namespace sfumato
