#pragma once

#include <optional>
#include <string>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// The top of an audit's page, in words that need no glossary.
[[nodiscard]] Text asked_text(const std::optional<ClaimedGuarantee>& claim);
/// Of one of several policies, if it is named.
[[nodiscard]] Text answer_text(const ClaimCheck& check, const std::string& policy = {});
[[nodiscard]] Text answer_text(const Claimed<Epsilon>& shown, double delta,
                               const std::string& policy = {});
/// What to do; `check` is null where nothing was claimed.
[[nodiscard]] Text advice_text(const ClaimCheck* check);

/// The same of a ledger: the policy that fares worst decides.
[[nodiscard]] Abstract abstract_of(const LedgerAudit& audit);

}  // namespace sfumato::lab
