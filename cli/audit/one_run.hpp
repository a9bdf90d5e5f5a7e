#pragma once

#include "audit/input.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::cli {

/// What one run with canaries bounds, and the claim of the command, if there is one, against it.
void bound_one_run(Document& document, const CanaryGuesses& guesses, const AuditCommand& command,
                   int& exit_code);

/// A claim against one run: the cap is what all guesses right would have shown.
void check_one_run(Document& document, const CanaryGuesses& guesses, const ClaimedGuarantee& claim,
                   double confidence, int& exit_code);

}  // namespace sfumato::cli
