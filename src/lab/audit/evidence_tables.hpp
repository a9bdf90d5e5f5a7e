#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/audit/scores.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Membership inference as it is usually reported: AUC, advantage, TPR at low FPR. `advice` follows
/// the warning that scores point the wrong way.
void add_membership(Document& document, const std::vector<NamedAttack>& attacks, double confidence,
                    const std::string& advice);

/// What scores of models bound, and by which tests.
struct BoundsView {
  std::span<const double> deltas, epsilons;
  bool independent_worlds = false;     ///< a credible interval, too
  bool smaller_means_members = false;  ///< as the user gave the scores
};
void add_bounds(Document& document, const Audit& audit, const BoundsView& view);

/// What one run with canaries bounds.
void add_one_run(Document& document, const OneRunAudit& audit, std::span<const double> deltas);

/// The maximum auditable epsilon, as tables show it.
[[nodiscard]] Claimed<double> maximum_cell(double maximum);

/// The lower bounds for programs, `of` being what they are about.
using Subjects = std::vector<std::pair<std::string, Cell>>;
void add_bound_results(Document& document, const Audit& audit, std::span<const double> deltas,
                       std::span<const double> epsilons, const Subjects& of);
void add_one_run_results(Document& document, const OneRunAudit& audit,
                         std::span<const double> deltas, const Subjects& of);

/// How D' differs from D, as far as it is known.
enum class WorldsDiffer { unknown, by_a_removed_record, by_a_replaced_record, in_their_losses };

/// What the numbers are about.
struct AuditScope {
  WorldsDiffer worlds = WorldsDiffer::unknown;
  std::optional<ScoreAccess> access;  ///< of the attacker; none: unknown
  std::string runs;                   ///< what was trained and scored, without a full stop
};

/// What the numbers are about and what they do not say: a paragraph, or in brief a sentence.
void state_scope(Document& document, const AuditScope& scope, Detail detail);

/// How to see more, at the end of a brief answer.
void state_how_to_see_more(Document& document);

}  // namespace sfumato::lab
