#pragma once

#include <string>

#include "sfumato/answers/audit/input.hpp"
#include "sfumato/report/report.hpp"

namespace sfumato::cli {

/// What a file or directory holds, told by its content: a ledger (which is audited as `audit` says), the
/// JSON of a command or of a report, or a directory of `reproduce`. The path enters the provenance.
///
/// Throws   InvalidArgument if there is no such file or it is none of these; as audit_ledger() and
///          read_report().
[[nodiscard]] Report read_input(const std::string& path, const AuditCommand& audit,
                                Verdict& verdict);

}  // namespace sfumato::cli
