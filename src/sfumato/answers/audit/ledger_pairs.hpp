#pragma once

#include <vector>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// Audits models of D against models of D', for the policies `chosen`: what is proven, estimated and
/// shown, losses, the paper's statistic, membership inference, claims.
///
/// Throws   InvalidArgument if the models have no such score, or a policy has no finished trial.
void audit_pairs(Document& document, const Ledger& ledger, const Study& study,
                 const std::vector<std::size_t>& chosen, AuditCommand command, AuditOptions options,
                 Verdict& verdict);

}  // namespace sfumato
