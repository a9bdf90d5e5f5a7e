#pragma once

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// Audits every noise policy of a ledger, or the one that `command` names: what the models show about
/// epsilon and delta, the paper's statistic, losses; the claim, if there is one, against each. The
/// scores are those that `study run` recorded.
///
/// Throws   InvalidArgument as Ledger::read(); if the ledger has no such policy or score, or no trial of
///          a policy yet.
void audit_ledger(Document& document, AuditCommand command, Verdict& verdict);

}  // namespace sfumato
