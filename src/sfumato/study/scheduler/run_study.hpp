#pragma once

#include <cstdint>

#include "sfumato/core/observer.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/trial_runner.hpp"

namespace sfumato {

struct RunReport {
  std::uint64_t trials = 0;    ///< of the study
  std::uint64_t before = 0;    ///< that the ledger held already
  std::uint64_t finished = 0;  ///< now
  std::uint64_t failed = 0;    ///< of those finished now
  bool stopped = false;        ///< by the observer, before the end
};

/// Trains every trial that the ledger does not hold. Each thread takes the next group of trials that is
/// left, trains it to the end and hands over its results, which this thread commits as they come: a
/// process that dies loses the groups in flight. Which thread trains a group changes nothing in it.
///
/// Throws   as Ledger::commit(), after the threads have ended.
RunReport run_study(const TrialRunner& runner, Ledger& ledger, unsigned threads,
                    Observer& observer);

}  // namespace sfumato
