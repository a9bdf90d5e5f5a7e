#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/trial.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

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

/// How far a ledger is, and how long the rest takes.
struct StudyStatusQuestion {
  std::string ledger;  ///< file
};

struct StudyStatusAnswer {
  StudyStatusQuestion question;
  std::string title;  ///< of the study; may be empty
  StudyProgress progress;
  bool growing = false;  ///< a run is adding to it
  unsigned workers = 1;  ///< groups that the last run trained at once
  double seconds_left =
      0.0;  ///< estimate: what is left, spread evenly over them; 0: nothing to go by
  std::string instruction_set;
  std::vector<std::pair<std::string, std::string>> checksums;  ///< of the data, by file
};

/// Throws   InvalidArgument as Ledger::read().
[[nodiscard]] StudyStatusAnswer answer(const StudyStatusQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const StudyStatusAnswer& answer, Detail detail);

}  // namespace sfumato::lab
