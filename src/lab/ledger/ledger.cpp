#include "sfumato/lab/ledger/ledger.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "lab/ledger/content.hpp"
#include "lab/ledger/identity_rows.hpp"
#include "lab/ledger/ledger_schema.hpp"
#include "lab/ledger/make.hpp"
#include "lab/ledger/old_study.hpp"
#include "lab/ledger/trial_rows.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/storage/connection.hpp"
#include "sfumato/storage/schema.hpp"

namespace sfumato::lab {
namespace {

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
