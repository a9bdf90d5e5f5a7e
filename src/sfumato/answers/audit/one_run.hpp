#pragma once

#include <span>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/audit/canary_guesses.hpp"
#include "sfumato/audit/one_run_audit.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// Canaries of one model, their coins, and what the order in which they come may tell about the coins.
struct CanaryScores {
  std::vector<double> scores;
  std::vector<std::uint8_t> included;
  Ties ties;
};

/// With as many guesses as --guesses says, or the numbers that are settled for so many canaries.
[[nodiscard]] OneRunAudit one_run_audit(const CanaryScores& canaries, const AuditCommand& command,
                                        std::uint64_t seed, double confidence);

/// What one run with canaries bounds, and the claim of the command, if there is one, against it.
void bound_one_run(Document& document, const CanaryScores& canaries, const AuditCommand& command,
                   Verdict& verdict);

/// A claim against one run: the cap is what all guesses right would have shown.
void check_one_run(Document& document, const OneRunAudit& audit, const ClaimedGuarantee& claim,
                   bool reversed, Verdict& verdict);

}  // namespace sfumato
