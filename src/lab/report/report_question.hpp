#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/verdict.hpp"
#include "sfumato/data/keys/key.hpp"
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

/// One HTML page of results: ledgers, which are audited as `audit` does it, the JSON of other commands or of
/// a report, directories of `reproduce`. Each input is a chapter.
struct ReportQuestion : LedgerAuditOptions {
  std::vector<std::string> inputs;
  std::string out;     ///< the page, a name that ends in .html
  std::string title;   ///< empty: of the first input
  bool force = false;  ///< replace files
  std::string file;    ///< that has the keys, which is never replaced; empty: none
  std::string
      written;  ///< when, for people; a single report that says when it was written keeps that
  /// How: command line, commit, checksums; a single report that says it keeps that.
  std::vector<std::pair<std::string, std::string>> made;
};

/// All but `force`, `file`, `written` and `made`.
[[nodiscard]] const Keys<ReportQuestion>& report_keys();

/// Throws   InvalidArgument at a key whose value cannot be.
void check(const ReportQuestion& question);

}  // namespace sfumato::lab
