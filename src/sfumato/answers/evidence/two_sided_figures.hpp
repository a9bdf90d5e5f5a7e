#pragma once

#include <string>

#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger_audit/ledger_audit.hpp"

namespace sfumato {

/// delta over epsilon, from above and from below; where something is proven also the
/// trade-off curve that it leaves to attacks, with the audited points.
void add_two_sided_figures(Document& document, const std::string& policy, const PairedModels& of);

}  // namespace sfumato
