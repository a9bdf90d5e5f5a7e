#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato {

/// An audit and whose it is; the name is empty where there is only one.
struct NamedAudit {
  std::string name;
  const Audit* audit;
};

/// The true-positive rates that a claimed (eps, delta) allows, over false-positive rates from `least`
/// to 1, as a region: TPR <= delta + e^eps FPR and 1 - FPR <= delta + e^eps (1 - TPR).
[[nodiscard]] Series claimed_rates(const ClaimedGuarantee& claim, double least);

/// The delta at each epsilon that a claimed (eps, delta) allows, as a region. Below the claimed
/// epsilon it follows from the two inequalities of claimed_rates:
///   delta(e) = delta + (1 - delta) (e^eps - e^e) / (1 + e^eps)   for e <= eps,   delta beyond.
[[nodiscard]] Series claimed_deltas(const ClaimedGuarantee& claim,
                                    const std::vector<double>& epsilons);

/// The largest delta at each epsilon that this many models can certify: an attack without errors.
[[nodiscard]] Series largest_deltas(const Audit& audit, const std::vector<double>& epsilons);

/// From 0 to a little beyond the maximum auditable epsilon and the claim.
[[nodiscard]] std::vector<double> epsilons_for(const Audit& audit,
                                               const std::optional<ClaimedGuarantee>& claim);

/// ROC curves with intervals, square and logarithmic from 1/(2n); what the claim allows and the tests
/// that decided, where there are any.
[[nodiscard]] Figure roc_figure(const std::vector<NamedAttack>& attacks, double confidence,
                                const std::optional<ClaimedGuarantee>& claim,
                                const std::vector<NamedAudit>& audits);

}  // namespace sfumato
