#pragma once

#include <map>
#include <string>

#include "sfumato/lab/ledger/identity.hpp"

namespace sfumato::lab {

/// The identity as rows of the table meta, with its SHA-256.
[[nodiscard]] std::map<std::string, std::string> identity_rows(const LedgerIdentity& identity);
/// Back from them; other rows are left aside. `path` is what messages call the ledger.
/// Throws   InvalidArgument if they are not what identity_rows() gave.
[[nodiscard]] LedgerIdentity identity_of(const std::map<std::string, std::string>& rows,
                                         const std::string& path);

/// Throws   InvalidArgument with the difference if trials of `ours` do not belong into a ledger of `theirs`.
void require_same(const LedgerIdentity& theirs, const LedgerIdentity& ours,
                  const StudyDifferences& differences, const std::string& path);

}  // namespace sfumato::lab
