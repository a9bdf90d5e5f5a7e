#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/lab/study/path_kl_risk.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"

namespace sfumato::lab {

enum class AuditedQuantity { epsilon, delta, mu };

/// One number about the models of a policy, from both sides.
struct TwoSided {
  AuditedQuantity quantity;
  double at = 0.0;  ///< the delta of an epsilon, the epsilon of a delta
  std::optional<Claimed<double>> proven;
  std::string no_proof;  ///< why nothing is
  std::optional<Claimed<double>> path_kl;
  std::string no_path_kl;
  Claimed<double> shown;          ///< by these models, a lower bound
  std::optional<double> maximum;  ///< of an epsilon: the largest that these models could have shown

  /// Whether more is shown than is proven to be possible, beyond rounding: a violation. One of the two is
  /// wrong: a bug, data or training other than the study says, a false proof, or the chance that the
  /// confidence leaves.
  [[nodiscard]] bool contradicts_proof() const;
  /// Whether more is shown than the estimate of an upper bound says: worth a warning.
  [[nodiscard]] bool above_path_kl() const;
};

/// What the models' path KLs say, or why they say nothing.
struct PathKl {
  std::optional<PathKlRisk> risk;
  std::string reason;
};

/// epsilon at every delta, delta at every epsilon, and mu.
[[nodiscard]] std::vector<TwoSided> two_sided(const Audit& audit, const ProvenBounds& proven,
                                              const PathKl& path_kl, std::span<const double> deltas,
                                              std::span<const double> epsilons);

/// Of one-run audits, whose bounds hold together: epsilon at every delta and mu, by the best of them.
[[nodiscard]] std::vector<TwoSided> two_sided(std::span<const OneRunAudit> replicas,
                                              const ProvenBounds& proven,
                                              std::span<const double> deltas);

}  // namespace sfumato::lab
