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
#include "sfumato/report/row_field.hpp"

namespace sfumato::lab {

/// A number that models show, or how it was found. From lists of them follow the tables in full and in brief, and results.
struct ShownNumber {
  std::string title;  ///< "eps at delta = 1e-05"
  Cell value;
  std::optional<double> maximum = {};  ///< the most that so many models could have shown
  std::string result =
      {};  ///< "epsilon": results are epsilon_lower and epsilon_maximum; empty: none
  std::vector<Subject> at = {};  ///< of the result
  bool brief = false;            ///< brief tables have it
};
/// What scores bound. In full a credible interval too, where the data sets are independent.
[[nodiscard]] std::vector<ShownNumber> shown_numbers(const Audit& audit,
                                                     std::span<const double> deltas,
                                                     std::span<const double> epsilons,
                                                     bool independent_worlds = false);
/// What one run with canaries bounds.
[[nodiscard]] std::vector<ShownNumber> shown_numbers(const OneRunAudit& audit,
                                                     std::span<const double> deltas);
/// Those of a brief answer, without methods.
[[nodiscard]] Table brief_bounds_table(const std::vector<ShownNumber>& numbers);
/// For programs, `of` being what they are about.
void add_shown_results(Document& document, const std::vector<ShownNumber>& numbers,
                       const std::vector<Subject>& of);

/// How membership inference went, by one number of one attack.
struct AttackNumber {
  std::string attack, quantity;
  Cell value, lower = Empty{}, upper = Empty{};  ///< and the ends of an interval
};

/// Membership inference as it is usually reported: AUC, advantage, TPR at low FPR. `advice` follows
/// the warning that scores point the wrong way.
void add_membership(Document& document, const std::vector<NamedAttack>& attacks, double confidence,
                    const Text& advice);
/// Its areas alone, without methods.
[[nodiscard]] Table areas_table(const std::vector<NamedAttack>& attacks, double confidence);

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

/// How D' differs from D, as far as it is known.
enum class WorldsDiffer { unknown, by_a_removed_record, by_a_replaced_record, in_their_losses };

/// What the numbers are about.
struct AuditScope {
  WorldsDiffer worlds = WorldsDiffer::unknown;
  std::optional<ScoreAccess> access;  ///< of the attacker; none: unknown
  Text runs;                          ///< what was trained and scored, without a full stop
};

/// What the numbers are about and what they do not say: a paragraph, or in brief a sentence.
void state_scope(Document& document, const AuditScope& scope, Detail detail);

/// How to see more, at the end of a brief answer.
void state_how_to_see_more(Document& document);

}  // namespace sfumato::lab
