#pragma once

#include <cstdint>
#include <string>

#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Write the trials of a ledger as a table, in the order of their keys.
struct StudyExportQuestion {
  std::string ledger;    ///< file
  std::string out;       ///< file to write: .csv, or .npz with the losses of every record
  bool timings = false;  ///< also the seconds of each trial
  bool force = false;    ///< replace a file
};

/// All but `force`.
[[nodiscard]] const Keys<StudyExportQuestion>& study_export_keys();

struct StudyExportAnswer {
  StudyExportQuestion question;
  std::uint64_t rows = 0;  ///< models, one row each
  std::uint64_t seed = 0;  ///< of the study
};

/// Throws   InvalidArgument at `out` if its name ends otherwise; as Ledger::read(); StorageError if it cannot be
///          written or is there already.
[[nodiscard]] StudyExportAnswer answer(const StudyExportQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const StudyExportAnswer& answer, Detail detail);

}  // namespace sfumato::lab
