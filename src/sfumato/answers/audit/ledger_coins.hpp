#pragma once

#include <vector>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// Audits models whose canaries were in or out by coins (Spec §11.4), each replica by itself; the level is
/// divided by their number.
///
/// Throws   InvalidArgument if a policy has no finished trial, or more are to be guessed than there are.
void audit_canaries(Document& document, const Ledger& ledger, const Study& study,
                    const std::vector<std::size_t>& chosen, const AuditCommand& command,
                    const AuditOptions& options, Verdict& verdict);

/// Audits shadow models: LOSS, LiRA and RMIA as description, and a bound from half of the models, each
/// attacked on one record by LiRA fitted on the other half.
///
/// Throws   InvalidArgument if a policy has fewer than four finished trials.
void audit_shadows(Document& document, const Ledger& ledger, const Study& study,
                   const std::vector<std::size_t>& chosen, const AuditCommand& command,
                   const AuditOptions& options, Verdict& verdict);

}  // namespace sfumato
