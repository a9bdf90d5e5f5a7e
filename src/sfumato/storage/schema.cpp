#include "sfumato/storage/schema.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

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

void require_sound_pages(const DatabaseConnection& connection) {
  Query check = connection.query("PRAGMA quick_check(1)");
  std::string verdict = check.next() ? check.text() : "no answer";
  if (verdict == "ok") return;
  // A heading, then what is wrong.
  if (verdict.starts_with("***")) verdict.erase(0, verdict.find('\n') + 1);
  throw InvalidArgument(
      fmt::format("is damaged ({})", on_one_line(verdict.substr(0, verdict.find('\n')))),
      "Restore it from a copy", Where::in(connection.path()));
}

}  // namespace

bool is_blank(const DatabaseConnection& connection) {
  return connection.number("PRAGMA application_id") == 0 &&
         connection.number("PRAGMA user_version") == 0 &&
         connection.number("PRAGMA page_count") <= 1 &&
         connection.number("SELECT count(*) FROM sqlite_schema") == 0;
}

void require_tables(const DatabaseConnection& connection, const char* tables) {
  if (texts(connection.query(kSchemaText)) != expected_schema(tables)) {
    throw InvalidArgument("is damaged or made by hand: its tables are not what was written",
                          "Restore it from a copy", Where::in(connection.path()));
  }
  require_sound_pages(connection);
}

}  // namespace sfumato
