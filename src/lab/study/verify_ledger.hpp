#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/study/scheduler/retrain.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Train random trials of a ledger again and compare every bit.
struct StudyVerifyQuestion {
  std::string ledger;                      ///< file
  std::uint64_t sample = 10;               ///< trials to draw
  std::optional<std::uint64_t> seed = {};  ///< of the sample; none: another each time
  unsigned threads = 0;                    ///< groups trained at once; 0: all cores
};

[[nodiscard]] const Keys<StudyVerifyQuestion>& study_verify_keys();

struct StudyVerifyAnswer {
  StudyVerifyQuestion question;
  Study study;
  std::uint64_t seed = 0;  ///< that the sample was drawn by
  Retraining result;
  std::string instruction_set;           ///< that the ledger was computed with
  bool another_instruction_set = false;  ///< than that of this machine
  /// That the ledger was computed from its study: violated if a trial came out otherwise, open if stopped,
  /// holds if all were compared, else not refuted.
  Verdict verdict = Verdict::none;
};

/// Throws   InvalidArgument as Ledger::read(), require_comparable() and retrain().
[[nodiscard]] StudyVerifyAnswer answer(const StudyVerifyQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const StudyVerifyAnswer& answer, Detail detail);

}  // namespace sfumato::lab
