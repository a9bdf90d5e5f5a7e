#include "sfumato/account/budget_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/storage/connection.hpp"
#include "sfumato/storage/content_digest.hpp"

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

void require_writable(const std::string& file, const std::string& path) {
  if (::access(file.c_str(), R_OK | W_OK) == 0) return;
  throw StorageError(fmt::format("cannot be opened for writing ({})", std::strerror(errno)),
                     "Check the directory and its permissions", Where::in(path));
}

bool is_there(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

/// A budget that was killed in the middle of a change leaves SQLite's journal beside it. Moved or removed alone it leaves the journal, and SQLite would write
/// what is in there into the next file of that name.
void require_no_journal(const std::string& file, const std::string& path) {
  for (const char* suffix : {"-journal", "-wal"}) {
    // The journal of one that came to be there at this moment is its own.
    if (!is_there(file + suffix) || is_there(file)) continue;
    throw StorageError(fmt::format("there is no such budget, and {}{} is left of one: it belongs "
                                   "to a file that was moved or removed",
                                   path, suffix),
                       "Put the budget back, or choose another name", Where::in(path));
  }
}

/// A new file beside `file`, for its owner alone, before SQLite sees it. Gone when this goes, unless it was given its
/// name; the next booking removes what a killed one left.
class NewFile {
 public:
  NewFile(const std::string& file, const std::string& path)
      : name_(fmt::format("{}.tmp-{}-XXXXXX", file, ::getpid())) {
    remove_leftovers(file);
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);  // 0600
    if (descriptor_ < 0) fail(errno, path);
    ::flock(descriptor_, LOCK_EX | LOCK_NB);  // it is in use: remove_leftovers() of others asks
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    // After SQLite has closed the file: closing any descriptor of a file ends SQLite's locks on it.
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
    if (!name_.empty()) ::unlink((name_ + "-journal").c_str());
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// False: a file of that name came to be there.
  bool rename_to(const std::string& file, const std::string& path) {
    int error = rename_to_new(name_, file);
    if (error == EEXIST) return false;
    if (error == 0) {
      name_.clear();
      ::close(descriptor_);
      descriptor_ = -1;
      error = flush_directory_of(file);
      if (error == 0) return true;
    }
    fail(error, path);
  }

 private:
  [[noreturn]] static void fail(int error, const std::string& path) {
    throw StorageError(fmt::format("cannot be made ({})", std::strerror(error)),
                       "Check the directory and its permissions", Where::in(path));
  }

  std::string name_;
  int descriptor_ = -1;
};

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

/// Every budget has an entry from the moment that it has a name: an empty one was emptied.
void require_booked(const DatabaseConnection& connection) {
  if (!is_blank(connection)) return;
  throw InvalidArgument("is empty: it never was a budget, or what was spent was taken out of it",
                        "Restore it from a copy; remove it only if nothing was ever booked in it",
                        Where::in(connection.path()));
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
    : connection_(path, purpose) {
  // On the disk, the directory's entry of the journal included, before a booking counts.
  if (purpose == DatabaseConnection::For::noting) {
    connection_.execute("PRAGMA synchronous = EXTRA");
  }
}

BudgetFile::Reserved BudgetFile::reserve(const std::string& path, const BudgetTerms& terms,
                                         const BudgetEntry& entry, const Check& check) {
  const std::string file = ledger_file(path);
  require_free_names(file, path);
  if (!is_there(file)) {
    require_no_journal(file, path);
    // Whole before it has its name: nobody sees a budget without its terms, and an empty file is none.
    NewFile made(file, path);
    std::int64_t number = 0;
    {
      BudgetFile fresh(made.name(), DatabaseConnection::For::noting);
      number = fresh.add(terms, entry, check, true);
    }
    if (made.rename_to(file, path)) {
      return {std::unique_ptr<BudgetFile>(new BudgetFile(path, DatabaseConnection::For::noting)),
              number, true};
    }
  }
  require_writable(file, path);
  std::unique_ptr<BudgetFile> budget(new BudgetFile(path, DatabaseConnection::For::noting));
  const std::int64_t number = budget->add(terms, entry, check, false);
  return {std::move(budget), number, false};
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

std::int64_t BudgetFile::add(const BudgetTerms& terms, const BudgetEntry& entry, const Check& check,
                             bool is_new) {
  Transaction transaction(connection_);
  if (is_new) {
    connection_.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kFormat)
            .c_str());
    connection_.execute(kTables);
    Query put = connection_.query("INSERT INTO terms VALUES (?, ?, ?)");
    put << terms.epsilon << terms.delta << terms.adjacency;
    put.run();
  } else {
    require_booked(connection_);
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

void BudgetFile::release(std::int64_t number, const BudgetEntry& reserved,
                         const std::string& model) {
  Transaction transaction(connection_);
  require_budget(connection_);
  require_content(connection_);
  const std::vector<BudgetEntry> entries = read_entries(connection_);
  const auto is_own = [&](const BudgetEntry& entry) {
    return entry.number == number && entry.time == reserved.time &&
           entry.command == reserved.command && entry.account == reserved.account &&
           entry.state == reserved.state && entry.model.empty();
  };
  if (std::none_of(entries.begin(), entries.end(), is_own)) {
    throw StorageError(
        "the booking of this run is not in it any more: the file was replaced or restored "
        "meanwhile",
        "Nothing was published. Find out what happened to the budget",
        Where::in(connection_.path()));
  }
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
  require_booked(connection_);
  require_budget(connection_);
  require_content(connection_);
  return read_terms(connection_);
}

std::vector<BudgetEntry> BudgetFile::entries() const { return read_entries(connection_); }

}  // namespace sfumato
