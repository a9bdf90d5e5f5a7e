#pragma once

#include <string>

#include "sfumato/core/verdict.hpp"
#include "sfumato/lab/audit/options.hpp"
#include "sfumato/report/report.hpp"

namespace sfumato::lab {

/// What one input of a report holds.
struct ReportInput {
  Report report;
  Verdict verdict = Verdict::none;  ///< of a ledger
  std::string file;                 ///< that was read
};

/// What a file or directory holds, told by its first bytes: a ledger (which is audited), the JSON of a
/// command or of a report, or a directory of `reproduce`.
///
/// Throws   InvalidArgument if there is no such file or it is none of these; as audit() of a ledger and
///          read_report().
[[nodiscard]] ReportInput read_input(const std::string& path, const LedgerAuditOptions& options);

}  // namespace sfumato::lab
