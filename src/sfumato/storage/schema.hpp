#pragma once

#include "sfumato/storage/connection.hpp"

namespace sfumato {

/// Whether nothing was ever written to the database: a new file, or one whose maker was ended at once.
[[nodiscard]] bool is_blank(const DatabaseConnection& connection);

/// Throws   InvalidArgument unless the tables are those that `tables` makes and nothing else is there (a view in the place of
///          a table, a trigger), and SQLite finds the pages sound.
void require_tables(const DatabaseConnection& connection, const char* tables);

}  // namespace sfumato
