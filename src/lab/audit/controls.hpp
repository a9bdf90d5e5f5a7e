#pragma once

#include <string>

#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// "isotropic", or "none (control)".
[[nodiscard]] std::string label_of(const PolicyAudit& policy);

/// Whether the attack works on a control, and what it shows there.
[[nodiscard]] Text control_text(const LedgerAudit& audit, const PolicyAudit& control);

/// The first control on which the attack fails; null if there is none.
[[nodiscard]] const PolicyAudit* failing_control(const LedgerAudit& audit);

/// The same for programs: the claims, or that the attack works where nothing is claimed, without an outcome.
void add_control_verdict(Document& document, const LedgerAudit& audit, const PolicyAudit& control);

/// A sentence for each control, a warning where the attack fails.
void state_controls(Document& document, const LedgerAudit& audit);

}  // namespace sfumato::lab
