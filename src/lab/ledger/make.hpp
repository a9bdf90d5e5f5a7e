#pragma once

#include <functional>

#include "sfumato/lab/ledger/identity.hpp"
#include "sfumato/storage/connection.hpp"

namespace sfumato::lab {

/// Write-ahead log, and on the disk before a transaction counts as committed.
void use_wal(DatabaseConnection& connection);

/// Tables and identity of an empty ledger, in the caller's transaction.
void make_ledger(DatabaseConnection& connection, const LedgerIdentity& identity);

/// A new file with an empty ledger that `fill` adds to, all in one transaction. If `fill` throws, the file
/// is removed; if the process is ended, it stays as an empty database.
/// Throws   InvalidArgument if there is such a file.
void make_copy(const std::string& path, const LedgerIdentity& identity,
               const std::function<void(DatabaseConnection&)>& fill);

}  // namespace sfumato::lab
