#include "sfumato/study/ledger/make.hpp"

#include <filesystem>
#include <memory>

#include "sfumato/study/ledger/content.hpp"
#include "sfumato/study/ledger/identity_rows.hpp"
#include "sfumato/study/ledger/schema.hpp"

namespace sfumato {

void use_wal(LedgerConnection& connection) {
  connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

void make_ledger(LedgerConnection& connection, const LedgerIdentity& identity) {
  make_tables(connection);
  record_content(connection, {});
  for (const auto& [key, value] : identity_rows(identity)) put_meta(connection, key, value);
}

void make_copy(const std::string& path, const LedgerIdentity& identity,
               const std::function<void(LedgerConnection&)>& fill) {
  auto connection = std::make_unique<LedgerConnection>(path, LedgerConnection::For::making);
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

}  // namespace sfumato
