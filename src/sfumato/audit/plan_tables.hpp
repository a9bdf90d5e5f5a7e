#pragma once

#include <string>

#include "sfumato/audit/claim_plan.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// Whether the planned models can refute the claim, if their number is settled; a table, under `key`, of what they
/// can show and how many are needed, in full by every strategy; and the results.
void add_claim_plan(Document& document, const ClaimPlan& plan, double confidence,
                    const std::string& key, Detail detail);

}  // namespace sfumato
