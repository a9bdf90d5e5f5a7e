#include "lab/ledger/ledger_schema.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"
#include "sfumato/storage/schema.hpp"

namespace sfumato::lab {
namespace {

/// In the header of the file: what `file` and SQLite call the application.
constexpr std::int64_t kApplication = 0x53666D74;  // "Sfmt"

// `odometer` is the path KL: ledgers have had the column under this name from the first format on.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trial(policy INTEGER, pair INTEGER, replica INTEGER, status TEXT NOT NULL,
  message TEXT NOT NULL, seed INTEGER NOT NULL, seconds REAL NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY(policy, pair, replica)) WITHOUT ROWID;
CREATE TABLE world(policy INTEGER, pair INTEGER, replica INTEGER, world INTEGER, diverged_at INTEGER,
  training_loss REAL, largest_loss REAL, training_accuracy REAL, test_accuracy REAL, odometer REAL,
  infinite_steps INTEGER NOT NULL, PRIMARY KEY(policy, pair, replica, world)) WITHOUT ROWID;
CREATE TABLE score(policy INTEGER, pair INTEGER, replica INTEGER, world INTEGER, position INTEGER,
  name TEXT NOT NULL, value REAL, PRIMARY KEY(policy, pair, replica, world, position)) WITHOUT ROWID;
CREATE TABLE series(policy INTEGER, pair INTEGER, replica INTEGER, world INTEGER, position INTEGER,
  name TEXT NOT NULL, floats BLOB NOT NULL,
  PRIMARY KEY(policy, pair, replica, world, position)) WITHOUT ROWID;
CREATE TABLE look(number INTEGER PRIMARY KEY, trials INTEGER NOT NULL);
)sql";

}  // namespace

void make_tables(DatabaseConnection& connection) {
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kApplication, kLedgerFormat)
                         .c_str());
  connection.execute(kTables);
}

std::int64_t require_sound(const DatabaseConnection& connection) {
  const std::string& path = connection.path();
  if (is_blank(connection)) {
    throw InvalidArgument("is empty: no run has got as far as writing to it",
                          "Run `sfumato study run` with it, or name another file", Where::in(path));
  }
  if (connection.number("PRAGMA application_id") != kApplication) {
    throw InvalidArgument("is no ledger of sfumato", "Name another file", Where::in(path));
  }
  const std::int64_t format = connection.number("PRAGMA user_version");
  if (format < kFormatWithoutContent || format > kLedgerFormat) {
    throw InvalidArgument(fmt::format("has ledger format {}, this program reads {} to {}", format,
                                      kFormatWithoutContent, kLedgerFormat),
                          "Use the program that wrote it, or start a new ledger", Where::in(path));
  }
  require_tables(connection, kTables);
  return format;
}

}  // namespace sfumato::lab
