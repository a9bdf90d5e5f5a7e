#pragma once

#include "sfumato/storage/connection.hpp"

namespace sfumato::lab {

/// Formats of ledgers, all with the same tables. From format 3 the ledger knows what it holds (`content`, see
/// content.hpp). Up to that, the records of its study count from 0 (see old_study.hpp).
constexpr std::int64_t kFormatWithoutContent = 2, kFormatFromZero = 3, kLedgerFormat = 4;

/// Makes the tables, in the caller's transaction.
void make_tables(DatabaseConnection& connection);

/// The format of the ledger, after a check that its tables are those of a ledger and nothing else is there
/// (a view in the place of a table, a trigger), and that SQLite finds its pages sound.
/// Throws   InvalidArgument if the file is no ledger, is empty, is damaged or has a format that is not known.
[[nodiscard]] std::int64_t require_sound(const DatabaseConnection& connection);

}  // namespace sfumato::lab
