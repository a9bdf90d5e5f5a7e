#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lab/report/report_question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

struct WrittenFile {
  std::string path;
  std::size_t bytes = 0;
};

struct ReportAnswer {
  std::string title;
  WrittenFile page;
  /// The same numbers for programs: report.json beside report.html. None where that is a file that was read,
  /// which a report never replaces; the page holds the JSON, too.
  std::optional<WrittenFile> json;
  std::size_t tables = 0, figures = 0;
  Verdict verdict = Verdict::none;  ///< the worst of the ledgers
};

/// Reads the inputs and writes the page.
/// Throws   InvalidArgument as check() and read_input(), or if the page would replace an input; StorageError if a
///          file is there already (without `force`) or cannot be written, before the inputs are read.
[[nodiscard]] ReportAnswer answer(const ReportQuestion& question, Observer& observer);

/// What was written; the same in brief and in full.
[[nodiscard]] Document document_of(const ReportAnswer& answer, Detail detail);

}  // namespace sfumato::lab
