#include "sfumato/study/ledger/schema.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
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

constexpr const char* kSchemaText =
    "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_schema "
    "ORDER BY name, type";

std::vector<std::string> texts(Query&& query) {
  std::vector<std::string> all;
  while (query.next()) all.push_back(query.text());
  return all;
}

/// What SQLite notes of the tables, from some that are made in memory.
std::vector<std::string> expected_schema(const char* tables) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(db, sqlite3_close_v2);
  const std::string path = "memory";
  if (opened != SQLITE_OK || sqlite3_exec(db, tables, nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail_with_sqlite(db, path);
  }
  return texts(Query(db, path, kSchemaText));
}

void require_sound_pages(const LedgerConnection& connection) {
  Query check = connection.query("PRAGMA quick_check(1)");
  std::string verdict = check.next() ? check.text() : "no answer";
  if (verdict == "ok") return;
  // A heading, then what is wrong.
  if (verdict.starts_with("***")) verdict.erase(0, verdict.find('\n') + 1);
  throw InvalidArgument(fmt::format("is damaged ({})", verdict.substr(0, verdict.find('\n'))),
                        "Restore it from a copy, or start a new one under another name",
                        Where::in(connection.path()));
}

}  // namespace

bool is_blank(const LedgerConnection& connection) {
  return connection.number("PRAGMA application_id") == 0 &&
         connection.number("PRAGMA user_version") == 0 &&
         connection.number("PRAGMA page_count") <= 1 &&
         connection.number("SELECT count(*) FROM sqlite_schema") == 0;
}

void make_tables(LedgerConnection& connection) {
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kApplication, kLedgerFormat)
                         .c_str());
  connection.execute(kTables);
}

void require_tables(const LedgerConnection& connection, const char* tables) {
  if (texts(connection.query(kSchemaText)) != expected_schema(tables)) {
    throw InvalidArgument("is damaged or made by hand: its tables are not those of a ledger",
                          "Restore it from a copy, or start a new one under another name",
                          Where::in(connection.path()));
  }
  require_sound_pages(connection);
}

std::int64_t require_sound(const LedgerConnection& connection) {
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

}  // namespace sfumato
