#pragma once

#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What a full document of a ledger shows of its policies, by the kind of their models. A policy of another
/// kind is left out.

/// Proven, path KL and shown side by side, with warnings where more is shown than the path KL says.
void add_two_sided_table(Document& document, const LedgerAudit& audit);
/// Losses at the end of training, and a histogram of those of the differing record for each policy.
void add_losses(Document& document, const LedgerAudit& audit);
/// Every model with canaries.
void add_canaries(Document& document, const LedgerAudit& audit);
/// What half of the shadow models show.
void add_shadows(Document& document, const LedgerAudit& audit);

}  // namespace sfumato::lab
