#pragma once

#include <string>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/lab/audit/two_sided.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// "eps = 1, delta = 1e-05".
[[nodiscard]] std::string claim_text(const ClaimedGuarantee& claim);

[[nodiscard]] Maths claim_said(const ClaimedGuarantee& claim);

/// "eps >= 1.21 with confidence 95 %".
[[nodiscard]] Text confident_text(const Claimed<Epsilon>& shown);
/// "... (maximum auditable epsilon 4.6)".
[[nodiscard]] Text shown_with_maximum(const Claimed<Epsilon>& shown, double maximum);

/// "--larger-means nonmember".
[[nodiscard]] Text larger_means_nonmember();

/// "VIOLATION", "NOT ENOUGH RUNS", "OPEN" or "NOT REFUTED".
[[nodiscard]] std::string outcome_text(ClaimOutcome outcome);

/// How verdicts are coloured.
[[nodiscard]] Outcome outcome_of(Verdict verdict);

/// The verdict on a claim as a sentence: whose claim, what was shown, what could have been shown at most, with
/// which confidence. `policy` is the noise policy of a ledger; empty: scores from elsewhere.
void state_claim(Document& document, const ClaimCheck& check, const std::string& policy,
                 Detail detail);

/// The same for programs.
void add_claim_verdict(Document& document, const ClaimCheck& check, const std::string& policy,
                       bool control = false);

/// "epsilon", "delta" or "mu": what its results are called by.
[[nodiscard]] std::string_view name(AuditedQuantity quantity);
/// "eps at delta = 1e-05", "delta at eps = 1" or "mu".
[[nodiscard]] std::string quantity_text(AuditedQuantity quantity, double at);

/// That more is shown than is proven to be possible. `confidence` is that of the audit.
void state_contradiction(Document& document, const TwoSided& of, const std::string& policy,
                         double confidence);
void add_contradiction_verdict(Document& document, const TwoSided& of, const std::string& policy,
                               double confidence);

/// The lower bound on epsilon in a sentence, where no claim asks for a verdict.
[[nodiscard]] Text shown_text(const Claimed<Epsilon>& shown, double maximum, Delta delta,
                              const std::string& policy);

}  // namespace sfumato::lab
