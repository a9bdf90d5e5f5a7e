#include "lab/ledger/content.hpp"

#include <fmt/format.h>

#include "lab/ledger/ledger_schema.hpp"
#include "lab/ledger/trial_rows.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/storage/schema.hpp"

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
      "is damaged: trials, looks or notes in it were added, removed or changed",
      connection.had_wal()
          ? fmt::format("Restore it from a copy; if it is one, remove {}-wal beside it, which "
                        "belongs to another",
                        path)
          : "Restore it from a copy, or start a new one under another name",
      Where::in(path));
}

}  // namespace sfumato::lab
