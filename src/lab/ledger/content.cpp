#include "lab/ledger/content.hpp"

#include <fmt/format.h>

#include "lab/ledger/trial_rows.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/storage/connection.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kContent = "content";

ContentDigest parsed(const std::string& digest, const std::string& path) {
  const auto content = ContentDigest::parse(digest);
  if (!content) refuse_damaged(path, "a digest in it is none");
  return *content;
}

std::string value_of(const DatabaseConnection& connection, const std::string& key) {
  Query query = connection.query("SELECT value FROM meta WHERE key = ?");
  query << key;
  return query.next() ? query.text() : "";
}

void replace_meta(DatabaseConnection& connection, const std::string& key,
                  const std::string& value) {
  Query query = connection.query("INSERT OR REPLACE INTO meta VALUES(?, ?)");
  (query << key << value).run();
}

}  // namespace

ContentDigest meta_item(const std::string& key, const std::string& value) {
  return ContentDigest::of(fmt::format("meta {} {}{}", key.size(), key, value));
}

ContentDigest look_item(std::uint64_t number, std::uint64_t trials) {
  return ContentDigest::of(fmt::format("look {} {}", number, trials));
}

ContentDigest trial_item(const std::string& digest, const std::string& path) {
  return parsed(digest, path);
}

ContentDigest recorded_content(const DatabaseConnection& connection) {
  return parsed(value_of(connection, kContent), connection.path());
}

void record_content(DatabaseConnection& connection, const ContentDigest& content) {
  replace_meta(connection, kContent, content.hex());
}

void put_meta(DatabaseConnection& connection, const std::string& key, const std::string& value) {
  ContentDigest content = recorded_content(connection);
  const std::string before = value_of(connection, key);
  if (!before.empty()) content -= meta_item(key, before);
  content += meta_item(key, value);
  replace_meta(connection, key, value);
  record_content(connection, content);
}

void put_look(DatabaseConnection& connection, std::int64_t format, std::uint64_t number,
              std::uint64_t trials) {
  Query query = connection.query("INSERT INTO look(number, trials) VALUES(?, ?)");
  (query << static_cast<std::int64_t>(number) << static_cast<std::int64_t>(trials)).run();
  if (format == kFormatWithoutContent) return;
  ContentDigest content = recorded_content(connection);
  record_content(connection, content += look_item(number, trials));
}

std::map<std::uint64_t, std::uint64_t> read_looks(const DatabaseConnection& connection) {
  std::map<std::uint64_t, std::uint64_t> looks;
  Query query = connection.query("SELECT number, trials FROM look");
  while (query.next()) {
    const auto number = static_cast<std::uint64_t>(query.integer());
    looks[number] = static_cast<std::uint64_t>(query.integer());
  }
  return looks;
}

Meta read_meta(const DatabaseConnection& connection) {
  Meta meta;
  Query rows = connection.query("SELECT key, value FROM meta");
  while (rows.next()) {
    const std::string key = rows.text();
    meta[key] = rows.text();
  }
  return meta;
}

void require_content(const DatabaseConnection& connection, std::int64_t format, Meta meta) {
  const std::string& path = connection.path();
  const auto content = meta.find(kContent);
  if ((content != meta.end()) != (format != kFormatWithoutContent)) {
    refuse_damaged(path, "its format is not what was written");
  }
  if (content == meta.end()) return;
  const ContentDigest written = parsed(content->second, path);
  meta.erase(content);

  ContentDigest found;
  for (const auto& [key, value] : meta) found += meta_item(key, value);
  for (const auto& [number, trials] : read_looks(connection)) found += look_item(number, trials);
  Query trials = connection.query("SELECT digest FROM trial");
  while (trials.next()) found += trial_item(trials.text(), path);
  if (found == written) return;
  throw InvalidArgument(
      "is damaged: trials, interim looks or notes in it were added, removed or changed",
      connection.had_wal()
          ? fmt::format("Restore it from a copy; if it is one, remove {}-wal beside it, which "
                        "belongs to another",
                        path)
          : "Restore it from a copy, or start a new one under another name",
      Where::in(path));
}

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
