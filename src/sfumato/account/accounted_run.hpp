#pragma once

#include <optional>
#include <vector>

#include "sfumato/account/account_answer.hpp"

namespace sfumato {

/// What the accountant composes for a run: the run itself, or, where its epsilon is known as a whole (the best of several runs, normalisers that depend on the
/// records), a step known to be that private.
struct AccountedRun {
  PrivateReleases all;
  std::optional<TuningCost> tuning = {};
  std::optional<NormaliserFinding> normaliser = {};
  std::vector<PrivateRelease> behind = {};  ///< what the known step stands for
  bool is_proven = true;

  /// Epsilon at the delta that it was made for, where that is not the accountant's.
  [[nodiscard]] std::optional<Enclosure> epsilon() const;
};

/// Throws   InvalidArgument at the key of what contradicts itself or has no proof; Stopped.
[[nodiscard]] AccountedRun accounted_run(const AccountQuestion& question,
                                         const PrivateReleases& before, const PrivateRelease& run,
                                         Delta delta, const Observer& observer);

/// Whether more than the run itself is asked about.
[[nodiscard]] bool is_tuned(const AccountQuestion& question);
[[nodiscard]] bool may_move(const ReleaseFields& run);  ///< its normaliser

/// The fields of the run with a declared normaliser, where another is accounted for by itself.
[[nodiscard]] ReleaseFields plain_fields(const AccountQuestion& question);

/// Throws   InvalidArgument as accounted_run(), of what can be seen before anything is computed.
void require_consistent(const AccountQuestion& question);

[[nodiscard]] RunsDistribution runs_of(const TuningFields& tuning);

/// Epsilon of parts of the run, and of the run done differently: where it comes from (explained.cpp).
[[nodiscard]] std::vector<ExplainedPart> explained_parts(const AccountAnswer& answer,
                                                         const Observer& observer);

/// The least noise multiplier with which the best of several runs meets a budget, from above to a relative 1e-5.
[[nodiscard]] double least_noise_of_tuned(const AccountQuestion& question,
                                          const PrivateReleases& before, const PrivateRelease& run,
                                          const PrivacyBudget& budget, const Observer& observer);

}  // namespace sfumato
