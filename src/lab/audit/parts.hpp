#pragma once

#include <vector>

#include "sfumato/lab/audit/ledger_audit.hpp"

namespace sfumato::lab {

/// The policies `chosen` of a ledger, whose study and options `audit` has. They fill in policies.
///
/// Throws   InvalidArgument if the models have no such score, or a policy has too few finished trials.
void audit_pairs(LedgerAudit& audit, const Ledger& ledger, const std::vector<std::size_t>& chosen,
                 const LedgerAuditOptions& asked);
void audit_canaries(LedgerAudit& audit, const Ledger& ledger,
                    const std::vector<std::size_t>& chosen, const LedgerAuditOptions& asked);
void audit_shadows(LedgerAudit& audit, const Ledger& ledger,
                   const std::vector<std::size_t>& chosen);

}  // namespace sfumato::lab
