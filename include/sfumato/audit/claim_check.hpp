#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/core/verdict.hpp"

namespace sfumato {

/// What somebody says a training has: (epsilon, delta), to be checked.
struct ClaimedGuarantee {
  Epsilon epsilon;
  Delta delta;
  friend auto operator<=>(const ClaimedGuarantee&, const ClaimedGuarantee&) = default;
};

/// "eps=1.0,delta=1e-5", in either order; epsilon finite and >= 0, delta in [0, 1), 1e-5 if left out. Nothing
/// for any other text.
[[nodiscard]] std::optional<ClaimedGuarantee> parse_guarantee(std::string_view text);

/// The same as text, all digits kept.
[[nodiscard]] std::string guarantee_text(const ClaimedGuarantee& claim);

/// What became of a claim, and why.
enum class ClaimOutcome {
  violation,        ///< the lower bound is above the claim
  not_enough_runs,  ///< not even an attack without errors could have refuted the claim with these models
  wrong_way,        ///< not refuted, by tests that looked the wrong way (scores_reversed())
  not_refuted,  ///< the claim may hold; an audit never proves it
};

/// Violated, open, open and not refuted.
[[nodiscard]] Verdict verdict_of(ClaimOutcome outcome);

/// What a claim was checked with: more of it shows more.
enum class ClaimEvidence { models, shadow_models, canaries };

/// What an audit says about a claimed (epsilon, delta).
struct ClaimCheck {
  ClaimedGuarantee claim;
  ClaimOutcome outcome;
  Claimed<Epsilon> found;  ///< at the claimed delta
  double maximum;          ///< the largest epsilon that could have been found
  /// Models per world, for an attack without errors; none: beyond 10^7, or not asked (canaries).
  std::optional<std::uint64_t> runs_needed;
  ClaimEvidence evidence = ClaimEvidence::models;

  [[nodiscard]] Verdict verdict() const { return verdict_of(outcome); }
};

/// `reversed`: scores_reversed() of what the audit saw. `evidence` says what the models were.
[[nodiscard]] ClaimCheck check_claim(const Audit& audit, const ClaimedGuarantee& claim,
                                     bool reversed = false,
                                     ClaimEvidence evidence = ClaimEvidence::models);
[[nodiscard]] ClaimCheck check_claim(const OneRunAudit& audit, const ClaimedGuarantee& claim,
                                     bool reversed = false);

/// The worst of the checks; none of none.
[[nodiscard]] Verdict worst_of(std::span<const ClaimCheck> checks);

}  // namespace sfumato
