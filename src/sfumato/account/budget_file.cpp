#include "sfumato/account/budget_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sfumato/core/error.hpp"
#include "sfumato/storage/content_digest.hpp"
#include "sfumato/storage/schema.hpp"

namespace sfumato {
namespace {

constexpr std::int64_t kApplication = 0x53666D42;  // "SfmB"
constexpr std::int64_t kFormat = 1;

// Numbers as texts with all their digits: the digest is of what is written.
constexpr const char* kTables = R"sql(
CREATE TABLE terms(epsilon REAL NOT NULL, delta REAL NOT NULL, adjacency TEXT NOT NULL);
CREATE TABLE entry(number INTEGER PRIMARY KEY, time TEXT NOT NULL, command TEXT NOT NULL,
  account TEXT NOT NULL, state TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE content(digest TEXT NOT NULL);
)sql";

/// Made for its owner alone, before SQLite sees it: whoever comes first makes the tables, in a transaction.
void make_file(const std::string& path) {
  const std::string file = ledger_file(path);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw StorageError(fmt::format("cannot be opened for writing ({})", std::strerror(errno)),
                       "Check the directory and its permissions", Where::in(path));
  }
  ::close(descriptor);
}

void require_budget(const DatabaseConnection& connection) {
  const std::string& path = connection.path();
  if (connection.number("PRAGMA application_id") != kApplication) {
    throw InvalidArgument("is no budget of sfumato", "Name another file", Where::in(path));
  }
  if (const std::int64_t format = connection.number("PRAGMA user_version"); format != kFormat) {
    throw InvalidArgument(
        fmt::format("is a budget of format {}, this program reads {}", format, kFormat),
        "Use the program that wrote it", Where::in(path));
  }
  require_tables(connection, kTables);
}

ContentDigest content_of(const BudgetTerms& terms, const std::vector<BudgetEntry>& entries) {
  ContentDigest content = ContentDigest::of(
      fmt::format("terms\n{}\n{}\n{}", terms.epsilon, terms.delta, terms.adjacency));
  for (const BudgetEntry& e : entries) {
    content += ContentDigest::of(fmt::format("entry\n{}\n{}\n{}\n{}\n{}\n{}", e.number, e.time,
                                             e.command, e.state, e.model, e.account));
  }
  return content;
}

std::vector<BudgetEntry> read_entries(const DatabaseConnection& connection) {
  std::vector<BudgetEntry> entries;
  Query query = connection.query(
      "SELECT number, time, command, account, state, model FROM entry ORDER BY number");
  while (query.next()) {
    BudgetEntry entry;
    entry.number = query.integer();
    entry.time = query.text();
    entry.command = query.text();
    entry.account = query.text();
    entry.state = query.text();
    entry.model = query.text();
    entries.push_back(std::move(entry));
  }
  return entries;
}

BudgetTerms read_terms(const DatabaseConnection& connection) {
  Query query = connection.query("SELECT epsilon, delta, adjacency FROM terms");
  if (!query.next()) refuse_damaged(connection.path(), "it has no terms");
  BudgetTerms terms;
  terms.epsilon = query.real();
  terms.delta = query.real();
  terms.adjacency = query.text();
  return terms;
}

void require_content(const DatabaseConnection& connection) {
  Query query = connection.query("SELECT digest FROM content");
  const bool same =
      query.next() &&
      query.text() == content_of(read_terms(connection), read_entries(connection)).hex();
  if (!same) refuse_damaged(connection.path(), "an entry was added, removed or changed by hand");
}

}  // namespace

BudgetFile::BudgetFile(const std::string& path, DatabaseConnection::For purpose)
    : connection_(path, purpose) {}

BudgetFile::BudgetFile(const std::string& path)
    : BudgetFile((make_file(path), path), DatabaseConnection::For::noting) {
  // On the disk, the directory's entry of the journal included, before a booking counts.
  connection_.execute("PRAGMA synchronous = EXTRA");
}

BudgetFile BudgetFile::read(const std::string& path) {
  if (::access(ledger_file(path).c_str(), F_OK) != 0) {
    throw InvalidArgument(
        "there is no such budget",
        "The first booking makes it: `budget` and `limit` of fit, train and account",
        Where::in(path));
  }
  return BudgetFile(path, DatabaseConnection::For::reading);
}

std::int64_t BudgetFile::reserve(
    const BudgetTerms& terms, const BudgetEntry& entry,
    const std::function<void(const BudgetTerms&, const std::vector<BudgetEntry>&)>& check) {
  Transaction transaction(connection_);
  if (is_blank(connection_)) {
    connection_.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kFormat)
            .c_str());
    connection_.execute(kTables);
    Query put = connection_.query("INSERT INTO terms VALUES (?, ?, ?)");
    put << terms.epsilon << terms.delta << terms.adjacency;
    put.run();
  } else {
    require_budget(connection_);
    require_content(connection_);
  }
  check(read_terms(connection_), read_entries(connection_));
  Query put = connection_.query(
      "INSERT INTO entry(time, command, account, state, model) VALUES (?, ?, ?, ?, ?)");
  put << entry.time << entry.command << entry.account << entry.state << entry.model;
  put.run();
  const std::int64_t number = connection_.number("SELECT last_insert_rowid()");
  record_content();
  transaction.commit();
  return number;
}

void BudgetFile::release(std::int64_t number, const std::string& model) {
  Transaction transaction(connection_);
  require_budget(connection_);
  require_content(connection_);
  Query update =
      connection_.query("UPDATE entry SET state = 'released', model = ? WHERE number = ?");
  update << model << number;
  update.run();
  record_content();
  transaction.commit();
}

void BudgetFile::record_content() {
  connection_.execute("DELETE FROM content");
  Query put = connection_.query("INSERT INTO content VALUES (?)");
  put << content_of(read_terms(connection_), read_entries(connection_)).hex();
  put.run();
}

BudgetTerms BudgetFile::terms() const {
  if (is_blank(connection_)) {
    throw InvalidArgument("is empty: nothing was ever booked in it", "Name another file",
                          Where::in(connection_.path()));
  }
  require_budget(connection_);
  require_content(connection_);
  return read_terms(connection_);
}

std::vector<BudgetEntry> BudgetFile::entries() const { return read_entries(connection_); }

}  // namespace sfumato
