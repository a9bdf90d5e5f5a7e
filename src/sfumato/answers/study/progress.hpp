#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/report/document.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// How far the trials of one noise policy are.
struct PolicyProgress {
  std::string policy;
  std::uint64_t done = 0, of = 0;
  std::uint64_t diverged = 0, failed = 0;  ///< of those done
  double seconds = 0.0;                    ///< of all that are done
};

/// Trials that failed with the same message.
struct TrialFailure {
  std::string message;
  std::string policy;  ///< of the first of them
  TrialKey first;
  std::uint64_t trials = 0;
};

/// How far a ledger is.
struct StudyProgress {
  std::vector<PolicyProgress> policies;
  std::vector<TrialFailure> failures;  ///< by message
  std::uint64_t done = 0, of = 0;
  double seconds_each = 0.0;  ///< mean of a trial; 0: none is done
};

/// Throws   InvalidArgument as Ledger::for_each().
[[nodiscard]] StudyProgress progress_of(const Study& study, const Ledger& ledger);

/// Tables of the policies, where there are few or everything is wanted, and of what failed.
void add_progress(Document& document, const StudyProgress& progress, Detail detail);

}  // namespace sfumato
