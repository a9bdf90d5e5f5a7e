#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/audit/score_sample.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/lab/study/path_kl_risk.hpp"

namespace sfumato::lab {

/// What the trials of one pair share: made by the first that needs it, kept while one uses it.
template <class T>
class PairCache {
 public:
  /// The value of `draw`, by `make()` if nobody has it. Threads share a cache.
  template <class Make>
  [[nodiscard]] std::shared_ptr<const T> get(std::uint64_t draw, Make&& make) const {
    const std::lock_guard lock(mutex_);
    if (auto known = pairs_[draw].lock()) return known;
    auto made = std::make_shared<const T>(make());
    pairs_[draw] = made;
    return made;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::weak_ptr<const T>> pairs_;
};

/// What a ledger holds of one noise policy, in the shapes that audits read. World 0 is D, 1 is D'.
struct PolicyTrials {
  std::uint64_t trials = 0, diverged = 0, failed = 0;
  /// One sample per pair; replicas that drew their pair at random are one sample. A diverged model has
  /// the score -inf: that it ranks lowest was fixed before training, so tests on scores stay valid.
  std::vector<ScoreSample> scores;
  /// Models that did not diverge and have no such score: a likelihood ratio needs noise everywhere. Their
  /// entries in `scores` mean nothing.
  std::uint64_t without_score = 0;
  /// Losses of the differing record, over all pairs; models that diverged are left out.
  std::array<std::vector<double>, 2> differing_losses;
  /// Of models that did not diverge, over all pairs; no accuracies where the study has no test set.
  std::array<std::vector<double>, 2> training_losses, test_accuracies;
  double worst_loss = 0.0;  ///< largest over models of the mean loss on D
  /// Largest over models and records; NaN where there are no records (a quadratic loss).
  double largest_loss = std::numeric_limits<double>::quiet_NaN();
  /// Of trials that did not diverge, pairs as in `scores`; empty if the study kept no path KL.
  std::vector<PathKlRuns> path_kls;
  /// Parameters that made a step infinite, of the first such steps: a few, ascending.
  std::vector<std::size_t> infinite_coordinates;
};

/// The trials of every policy of `study`, whose ledger it is, with the scores called `score`. Failed
/// trials are counted and left out.
[[nodiscard]] std::vector<PolicyTrials> trials_by_policy(const Ledger& ledger, const Study& study,
                                                         const std::string& score);

}  // namespace sfumato::lab
