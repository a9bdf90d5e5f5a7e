#include "lab/ledger/make.hpp"

#include <filesystem>
#include <memory>

#include "lab/ledger/content.hpp"
#include "lab/ledger/identity_rows.hpp"
#include "lab/ledger/ledger_schema.hpp"
#include "sfumato/storage/schema.hpp"

namespace sfumato::lab {

void use_wal(DatabaseConnection& connection) {
  connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

void make_ledger(DatabaseConnection& connection, const LedgerIdentity& identity) {
  make_tables(connection);
  record_content(connection, {});
  for (const auto& [key, value] : identity_rows(identity)) put_meta(connection, key, value);
}

void make_copy(const std::string& path, const LedgerIdentity& identity,
               const std::function<void(DatabaseConnection&)>& fill) {
  auto connection = std::make_unique<DatabaseConnection>(path, DatabaseConnection::For::making);
  try {
    use_wal(*connection);
    Transaction transaction(*connection);
    make_ledger(*connection, identity);
    fill(*connection);
    transaction.commit();
  } catch (...) {
    connection.reset();
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(ledger_file(path) + suffix, ignored);
    }
    throw;
  }
}

}  // namespace sfumato::lab
