#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sfumato/answers/study/progress.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

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

}  // namespace sfumato
