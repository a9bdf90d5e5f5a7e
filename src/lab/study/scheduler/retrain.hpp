#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/study/trial_runner.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

/// A trial that came out otherwise when it was trained again.
struct TrialMismatch {
  TrialKey key;
  std::string what;  ///< the first thing that differs, with both values
};

struct Retraining {
  std::uint64_t held = 0;                 ///< trials in the ledger
  std::vector<TrialKey> sample;           ///< trials that were drawn, in the order of the keys
  std::uint64_t trials = 0;               ///< compared: those, and the others of their groups
  std::uint64_t groups = 0;               ///< trained
  std::uint64_t models = 0;               ///< of the trials compared
  std::vector<TrialMismatch> mismatches;  ///< in the order of the keys
  bool stopped = false;                   ///< by the observer, before all were compared
};

/// Throws   InvalidArgument if trials that the runner trains here need not have the bits of the ledger's: the
///          version or the data are others, or the model is a network and the instruction set is another (its
///          sums are then taken in another order; models of known distribution do not depend on it).
void require_comparable(const TrialRunner& runner, const Ledger& ledger, const std::string& path);

/// Trains `sample` trials of the ledger again (all if there are fewer), drawn without replacement by `seed`,
/// each with the other trials of its group, and compares every number with what the ledger holds, bit by bit.
/// A trial is a pure function of the study, so any difference means that the ledger's was not
/// computed from it. The seconds are left out.
///
/// `threads` groups at once; 0: as many as there are cores.
/// Throws   InvalidArgument if the ledger holds no trial, or one outside the study.
[[nodiscard]] Retraining retrain(const TrialRunner& runner, const Ledger& ledger,
                                 std::uint64_t sample, std::uint64_t seed, unsigned threads,
                                 Observer& observer);

/// What a sample of `size` out of `held` trials can miss: had a larger share of the trials been wrong, one of
/// them would have been drawn with probability 0.95 or more. 1 - 0.05^(1/size), which drawing without
/// replacement only improves; 0 if all were compared.
[[nodiscard]] double share_that_may_hide(std::uint64_t size, std::uint64_t held);

}  // namespace sfumato::lab
