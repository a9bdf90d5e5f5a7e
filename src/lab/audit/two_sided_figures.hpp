#pragma once

#include <optional>
#include <string>

#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// delta over epsilon in one figure: what the claim allows, what is proven, what the models of each policy
/// show, and the most they can show. Where something is proven also the trade-off curve that it leaves
/// to attacks, with the audited points.
void add_two_sided_figures(Document& document, const LedgerAudit& audit);

/// The same of one audit: claim, bound and maximum.
[[nodiscard]] Figure delta_figure(const Audit& audit, const std::optional<ClaimedGuarantee>& claim);

}  // namespace sfumato::lab
