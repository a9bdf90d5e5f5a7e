#pragma once

#include <cstdint>
#include <string>

#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// One row per model, in the order of the trials' keys, D before D': equal ledgers give equal files. A
/// trial that failed has no model, hence no row. Return the number of rows.
///
/// CSV: a column per number, empty where there is none; seconds only with `timings`, since they are the
/// one thing in which equal studies differ.
/// Throws   StorageError as OutputFile.
std::uint64_t export_csv(const Ledger& ledger, const Study& study, const std::string& path,
                         bool timings, const WriteRules& rules = {});

/// NPZ: vectors `policy`, `pair`, `replica`, `world` (0 for D), `status` (0 ok, 1 diverged),
/// `diverged_at`, `training_loss`, ... as in the CSV file, NaN where there is none; `seed` as two
/// columns, the upper and the lower 32 bits; for each series that was recorded a matrix in single
/// precision, such as `record_losses`, a row per model; texts `policies` (names, one a line) and `study`.
/// Throws   InvalidArgument if there is no row or series differ in length; StorageError as OutputFile.
std::uint64_t export_npz(const Ledger& ledger, const Study& study, const std::string& path,
                         bool timings, const WriteRules& rules = {});

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
