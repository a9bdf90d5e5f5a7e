#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/statistic_interval.hpp"
#include "reproduce/studies.hpp"
#include "sfumato/audit/advantage.hpp"
#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato::apps {

/// The confidence of every interval and bound in the parts that train models.
inline constexpr double kConfidence = 0.95;

/// What the models of one noise policy show: the paper's two numbers, and what an attacker achieves who
/// only sees the loss of the differing record.
struct PolicyOutcome {
  std::string policy;
  std::size_t models = 0;  ///< per world, diverged ones included
  std::uint64_t diverged = 0;

  /// The paper's: Algorithm 1 at every epsilon of the study, and the losses at the end.
  std::vector<PaperStatistic> statistics;
  std::vector<StatisticIntervals> intervals;
  double worst_loss = 0.0;         ///< largest over models of the mean loss on D
  double worst_record_loss = 0.0;  ///< largest over models and their records
  double least_loss = 0.0;         ///< smallest mean loss
  double mean_loss[2] = {};        ///< over the models of D, of D'
  double differing_loss[2] = {};   ///< of the differing record, mean over the models of D, of D'

  /// A threshold on the loss of the differing record, over all pairs.
  AdvantageEstimate advantage;
  double auc = 0.5;
  ProbabilityInterval auc_interval{};
  /// The mean over pairs of the AUC of each: an attacker who knows how hard the record is.
  double auc_within = 0.5;

  /// What `sfumato audit LEDGER --score SCORE` shows, at the study's delta and first epsilon: each pair by itself,
  /// so that so few models prove little. Nothing where there are too few for an audit.
  std::optional<Claimed<Epsilon>> epsilon;
  std::optional<double> maximum;  ///< the largest epsilon that could have been shown
  std::optional<Claimed<Delta>> delta;

  /// Lower bounds from the counts over all pairs at fixed ranks, at delta = 1e-5 and the study's first epsilon:
  /// about the average of the pairs, for the paper's tables.
  Claimed<Epsilon> pooled_epsilon{Epsilon(0.0)};
  double pooled_maximum = 0.0;
  Claimed<Delta> pooled_delta{Delta(0.0)};
};

/// Nothing is finite where every model diverged: `statistics` is then empty.
[[nodiscard]] std::vector<PolicyOutcome> outcomes_of(const TrainedStudy& trained);

/// "Statistic and losses" as the paper has them.
[[nodiscard]] Table statistic_table(const std::string& key, const std::string& title,
                                    const std::vector<PolicyOutcome>& outcomes,
                                    const std::vector<double>& epsilons);
/// How well a threshold on the differing record's loss tells D from D'.
[[nodiscard]] Table attack_table(const std::string& key, const std::string& title,
                                 const std::vector<PolicyOutcome>& outcomes);
/// What that attack proves, by the audit of the ledger and by pooled pairs, `epsilon` being the one that delta
/// is bounded at.
[[nodiscard]] Table proof_table(const std::string& key, const std::vector<PolicyOutcome>& outcomes,
                                double epsilon);

/// {"delta": [...], "worst_loss", ...} of one policy, and the intervals under the same names.
[[nodiscard]] nlohmann::ordered_json outcome_json(const PolicyOutcome& outcome,
                                                  const std::vector<double>& epsilons);
[[nodiscard]] nlohmann::ordered_json interval_json(const PolicyOutcome& outcome,
                                                   const std::vector<double>& epsilons);

/// Losses of the differing record under the models of D and of D'.
[[nodiscard]] Figure losses_figure(const std::string& key, const std::string& title,
                                   const PolicyTrials& trials);

/// Mean over the first models of D of the logged losses of their batches, one line per policy.
[[nodiscard]] Figure training_curves(const std::string& key, const std::string& title,
                                     const TrainedStudy& trained);

/// What a study was run with: records, iterations, pairs, replicas, ...
[[nodiscard]] nlohmann::ordered_json size_json(const Study& study);
/// Whether `study` does less than studies/NAME.toml says.
[[nodiscard]] bool is_reduced(const Study& study, const std::string& name);

}  // namespace sfumato::apps
