#pragma once

#include <string>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato::lab {

/// Losses of the differing record over the models of D and of D': a point each where there are fewer than 50 of
/// a world, otherwise in common bins with round edges; on a logarithmic axis where they are far apart. Without series
/// if there are none.
/// Throws   InternalError for NaN.
[[nodiscard]] Figure loss_histogram(const std::string& key, const std::string& title,
                                    const Pair<std::vector<double>>& losses);

/// What a full document of a ledger shows of its policies, by the kind of their models. A policy of another
/// kind is left out.

/// Proven, path KL and shown side by side, with warnings where more is shown than the path KL says.
void add_two_sided_table(Document& document, const LedgerAudit& audit);
/// The first quantity of each policy, at most so many; in brief.
[[nodiscard]] Table brief_sides_table(const LedgerAudit& audit, std::size_t most);
/// All numbers of a policy for programs, from the fields of these tables.
void add_policy_results(Document& document, const LedgerAudit& audit, const PolicyAudit& policy);

/// Losses at the end of training, and a histogram of those of the differing record for each policy.
void add_losses(Document& document, const LedgerAudit& audit);
/// Every model with canaries.
void add_canaries(Document& document, const LedgerAudit& audit);
/// What half of the shadow models show.
void add_shadows(Document& document, const LedgerAudit& audit);

}  // namespace sfumato::lab
