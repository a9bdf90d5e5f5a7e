#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/score_sample.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// How an audit comes by its events without looking at the scores that decide. Taking the best of many
/// thresholds on the same scores and reporting its bound, uncorrected, is wrong far more often than
/// the level says.
enum class ThresholdStrategy {
  combined,  ///< ranks with 4/5 of the level, held_out with 1/5: never far from the better of the two
  held_out,  ///< chosen on a random part of the models, tested on the others
  ranks,     ///< a few fixed ranks of each world, the level divided by their number (Spec §11.3)
  fixed,     ///< thresholds that were given beforehand, the level divided by their number
};

/// "combined", "held-out", "ranks" or "fixed".
[[nodiscard]] std::string_view name(ThresholdStrategy strategy);

struct AuditOptions {
  double confidence = 0.95;  ///< of all bounds of the audit, or of all `audits`, together
  ThresholdStrategy strategy = ThresholdStrategy::combined;
  Delta delta{1e-5};                    ///< held_out chooses for the epsilon at this delta
  double choosing_fraction = 0.25;      ///< of the models, with held_out and combined
  std::uint64_t seed = 0;               ///< of the split
  std::vector<double> thresholds = {};  ///< with fixed: the tests are "score >= threshold"
  std::uint64_t look = 1;               ///< which look at the same growing set of models this is
  bool more_looks = false;              ///< models may be added and looked at again
  std::uint64_t audits = 1;  ///< that share the confidence, such as one for each noise policy
};

/// The share of alpha that a look may spend if there may be any number of them:
/// alpha / (look (look + 1)), which sums to alpha.
/// Throws   InvalidArgument if look is 0.
[[nodiscard]] double level_of_look(double alpha, std::uint64_t look);

/// What one audit may err with: 1 - confidence, split over the looks and the audits that share it.
/// Throws   InvalidArgument if confidence is not in (0, 1), or look or audits is 0.
[[nodiscard]] double level_of(const AuditOptions& options);

/// One tested event.
struct AuditedEvent {
  std::size_t sample;        ///< which of the samples (pairs, scores), from 0
  double threshold;          ///< "score >= threshold"
  TestCounts counts;         ///< on the models that decide
  ThresholdStrategy origin;  ///< held_out, ranks or fixed: where the threshold comes from
  double level;              ///< what its two intervals may err with
};

/// What scores of trained models show. All bounds, for every delta and epsilon, hold together with the
/// confidence of the audit.
class Audit {
 public:
  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;
  [[nodiscard]] Claimed<Delta> delta(Epsilon epsilon) const;
  /// A bound on mu, if the mechanism is Gaussian-DP at all.
  [[nodiscard]] Claimed<double> mu() const;
  /// From mu() (Spec §3.1): often far above epsilon(delta), and worth as much as its assumption.
  [[nodiscard]] Claimed<Epsilon> epsilon_if_gdp(Delta delta) const;

  /// The maximum auditable epsilon: what an attack without errors would have shown with these models.
  [[nodiscard]] double maximum_epsilon(Delta delta) const;
  /// Models per world with which an attack of these rates, a perfect one by default, shows more than
  /// (epsilon, delta) by this strategy; nothing if 10^7 are not enough.
  [[nodiscard]] std::optional<std::uint64_t> runs_to_refute(Epsilon epsilon, Delta delta,
                                                            const AttackRates& attack = {}) const;

  [[nodiscard]] const std::vector<AuditedEvent>& events() const { return events_; }
  [[nodiscard]] double confidence() const { return options_.confidence; }
  [[nodiscard]] const AuditOptions& options() const { return options_; }

 private:
  friend Audit audit_scores(std::span<const ScoreSample> samples, const AuditOptions& options);
  Audit() = default;

  AuditOptions options_;
  std::size_t samples_ = 0;
  std::vector<AuditedEvent> events_;  ///< never empty
  std::vector<RateBounds> rates_;     ///< of each event
  std::string method_;
  std::vector<std::string> assumptions_;
};

/// Audits one sample, or several (one per pair of data sets, or per kind of score): their number is
/// corrected for. Where each replica drew its pair at random, pass the one pooled() sample instead.
///
/// Throws   InvalidArgument if there is no sample, a world of one is empty (or, with held_out and
///          combined, has fewer than two models), a score is NaN, confidence or choosing_fraction is not in (0, 1),
///          `fixed` has no or a NaN threshold, or look or audits is 0.
[[nodiscard]] Audit audit_scores(std::span<const ScoreSample> samples, const AuditOptions& options);
[[nodiscard]] inline Audit audit_scores(const ScoreSample& sample, const AuditOptions& options) {
  return audit_scores(std::span(&sample, 1), options);
}

}  // namespace sfumato
