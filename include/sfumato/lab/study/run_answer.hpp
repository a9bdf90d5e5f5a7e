#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/trial.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Train the models of a study that its ledger does not hold yet.
struct StudyRunQuestion {
  std::string study;                       ///< file
  std::vector<std::string> settings = {};  ///< key=value, over what the file says
  std::string ledger = {};  ///< file; empty: the name of the study with .ledger, where it is run
  unsigned threads = 0;     ///< groups trained at once; 0: all cores, or one per rank of mpirun
};

struct StudyRunAnswer {
  StudyRunQuestion question;
  std::string title;       ///< of the study; may be empty
  std::uint64_t seed = 0;  ///< of the study
  std::string ledger;      ///< file
  unsigned ranks = 0;      ///< of mpirun; 0: a process alone
  RunReport report;        ///< of this run
  StudyProgress progress;  ///< of the ledger, after it
  /// That this process leads; it ends with the answer. An mpirun that is stopped ends every process soon after the
  /// first has left, so say what was done before you drop it.
  std::shared_ptr<void> job = {};
};

/// Trains until all is done or the observer asks to stop. As one of several processes of mpirun, rank 0 leads and
/// has the answer; the others serve it and return nothing.
///
/// Throws   as read_study(), TrialRunner, Ledger::open() and run_study(); rank 0 also what went wrong with
///          another rank.
[[nodiscard]] std::optional<StudyRunAnswer> answer(const StudyRunQuestion& question,
                                                   Observer& observer);

[[nodiscard]] Document document_of(const StudyRunAnswer& answer, Detail detail);

}  // namespace sfumato::lab
