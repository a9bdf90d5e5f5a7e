#pragma once

#include "sfumato/lab/audit/options.hpp"

namespace sfumato::lab {

/// Throws   InvalidArgument at the key of a value that cannot be: `confidence`, `delta`, `epsilons`,
///          `choosing`, `threshold`, `look`.
void check(const LedgerAuditOptions& options);

/// What audit_scores() is told. Where no confidence or delta is given it is `confidence` and `delta`.
[[nodiscard]] AuditOptions audit_options(const LedgerAuditOptions& options, double confidence,
                                         Delta delta);

}  // namespace sfumato::lab
