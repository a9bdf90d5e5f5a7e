#include "sfumato/lab/ledger/ledger.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "lab/ledger/content.hpp"
#include "lab/ledger/identity_rows.hpp"
#include "lab/ledger/trial_rows.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/lab/ledger/identity.hpp"
#include "sfumato/storage/connection.hpp"

namespace sfumato::lab {
namespace {

/// The canonical text of a study whose records count from 0, with `record` of [adjacency] counted from 1, as
/// texts have it today.
std::string records_from_one(const std::string& study) {
  constexpr std::string_view kKey = "record = ";
  std::istringstream lines(study);
  std::string line, table, text;
  while (std::getline(lines, line)) {
    if (line.starts_with("[")) table = line;
    if (table == "[adjacency]" && line.starts_with(kKey)) {
      std::uint64_t record = 0;
      const char* first = line.data() + kKey.size();
      const char* last = line.data() + line.size();
      const auto [end, error] = std::from_chars(first, last, record);
      if (error == std::errc{} && end == last) line = fmt::format("{}{}", kKey, record + 1);
    }
    text += line + "\n";
  }
  return text;
}

/// Write-ahead log, and on the disk before a transaction counts as committed.
void use_wal(DatabaseConnection& connection) {
  connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

/// Tables and identity of an empty ledger, in the caller's transaction.
void make_ledger(DatabaseConnection& connection, const LedgerIdentity& identity) {
  make_tables(connection);
  record_content(connection, {});
  for (const auto& [key, value] : identity_rows(identity)) put_meta(connection, key, value);
}

/// A new file with an empty ledger that `fill` adds to, all in one transaction. If `fill` throws, the file
/// is removed; if the process is ended, it stays as an empty database.
/// Throws   InvalidArgument if there is such a file.
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

constexpr const char* kWorkers = "workers";

struct Head {
  std::int64_t format;
  LedgerIdentity identity;
};

/// What the ledger is, after every check that does not need its trials read.
Head require_trustworthy(const DatabaseConnection& connection) {
  const std::int64_t format = require_sound(connection);
  const Meta meta = read_meta(connection);
  LedgerIdentity identity = identity_of(meta, connection.path());
  require_content(connection, format, meta);
  if (format <= kFormatFromZero) identity.study = records_from_one(identity.study);
  return {format, std::move(identity)};
}

}  // namespace

Ledger::Ledger(std::unique_ptr<DatabaseConnection> connection, LedgerIdentity identity,
               std::int64_t format)
    : connection_(std::move(connection)), identity_(std::move(identity)), format_(format) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

const std::string& Ledger::path() const { return connection_->path(); }

Ledger Ledger::read(const std::string& path) {
  auto connection = std::make_unique<DatabaseConnection>(path, DatabaseConnection::For::reading);
  // One moment of the ledger for everything that is asked of it.
  connection->execute("BEGIN");
  Head head = require_trustworthy(*connection);
  connection->trust();
  return Ledger(std::move(connection), std::move(head.identity), head.format);
}

bool Ledger::is_growing(const std::string& path) { return FileLock::is_held(ledger_file(path)); }

Ledger Ledger::open(const std::string& path, const LedgerIdentity& identity,
                    const StudyDifferences& differences) {
  auto connection =
      std::make_unique<DatabaseConnection>(path, DatabaseConnection::For::adding_trials);
  if (is_blank(*connection)) {
    use_wal(*connection);
    Transaction transaction(*connection);
    make_ledger(*connection, identity);
    transaction.commit();
    connection->trust();
    return Ledger(std::move(connection), identity, kLedgerFormat);
  }
  Head theirs = require_trustworthy(*connection);
  require_same(theirs.identity, identity, differences, path);
  if (theirs.format != kLedgerFormat) {
    throw InvalidArgument(
        fmt::format("has ledger format {}, to which nothing is added any more", theirs.format),
        fmt::format("`sfumato study copy {} NEW` makes a ledger of format {} from it; go on with "
                    "that one",
                    path, kLedgerFormat),
        Where::in(path));
  }
  for_each_trial(*connection, [](const TrialResult&) {});  // damage is found before more is trained
  connection->trust();
  use_wal(*connection);
  return Ledger(std::move(connection), std::move(theirs.identity), theirs.format);
}

void Ledger::commit(const std::vector<TrialResult>& trials) {
  Transaction transaction(*connection_);
  TrialWriter writer(*connection_);
  for (const TrialResult& trial : trials) writer.put(trial);
  // Not remembered from before: an audit may have noted a look.
  ContentDigest content = recorded_content(*connection_);
  record_content(*connection_, content += writer.content());
  transaction.commit();
}

std::set<TrialKey> Ledger::finished() const {
  std::set<TrialKey> keys;
  Query query = connection_->query("SELECT policy, pair, replica FROM trial");
  while (query.next()) keys.insert(key_of(query));
  return keys;
}

std::map<TrialStatus, std::uint64_t> Ledger::counts() const {
  std::map<TrialStatus, std::uint64_t> counts;
  Query query = connection_->query("SELECT status, count(*) FROM trial GROUP BY status");
  while (query.next()) {
    const TrialStatus status = require_status(query.text(), connection_->path());
    counts[status] = static_cast<std::uint64_t>(query.integer());
  }
  return counts;
}

std::vector<std::string> Ledger::score_names() const {
  std::vector<std::string> names;
  Query query = connection_->query(
      "SELECT name, min(position) AS first FROM score GROUP BY name ORDER BY first, name");
  while (query.next()) names.push_back(query.text());
  return names;
}

void Ledger::for_each(const std::function<void(const TrialResult&)>& use) const {
  for_each_trial(*connection_, use);
}

void Ledger::record_workers(unsigned workers) {
  Transaction transaction(*connection_);
  put_meta(*connection_, kWorkers, std::to_string(workers));
  transaction.commit();
}

unsigned Ledger::workers() const {
  Query query = connection_->query("SELECT value FROM meta WHERE key = ?");
  query << std::string(kWorkers);
  return query.next() ? static_cast<unsigned>(std::strtoul(query.text().c_str(), nullptr, 10)) : 0;
}

void Ledger::record_look(std::uint64_t number, std::uint64_t trials) const {
  DatabaseConnection notes(connection_->path(), DatabaseConnection::For::noting);
  notes.trust();  // this ledger is
  Transaction transaction(notes);
  put_look(notes, format_, number, trials);
  transaction.commit();
}

std::map<std::uint64_t, std::uint64_t> Ledger::looks() const { return read_looks(*connection_); }

void Ledger::copy_to(const std::string& path) const {
  make_copy(path, identity_, [&](DatabaseConnection& copy) {
    TrialWriter writer(copy);
    for_each([&](const TrialResult& trial) { writer.put(trial); });
    ContentDigest content = recorded_content(copy);
    record_content(copy, content += writer.content());
    for (const auto& [number, trials] : looks()) put_look(copy, kLedgerFormat, number, trials);
    if (const unsigned last = workers(); last != 0) put_meta(copy, kWorkers, std::to_string(last));
  });
}

}  // namespace sfumato::lab
