#include "sfumato/study/ledger/ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/study/ledger/trial_bytes.hpp"

namespace sfumato {
namespace {

constexpr int kSchemaVersion = 2;
/// In the header of the file: what `file` and SQLite call the application.
constexpr int kApplication = 0x53666D74;  // "Sfmt"

constexpr const char* kSchema = R"sql(
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

/// Turns SQLite's answer into the error its reader can act on.
[[noreturn]] void fail(sqlite3* db, const std::string& path) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  const std::string text = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw InvalidArgument(fmt::format("is no ledger or is damaged ({})", text),
                            "Restore it from a copy, or start a new one under another name",
                            Where::in(path));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw StorageError(fmt::format("cannot be written ({})", text),
                         "Make room on the disk and run the same command again: finished trials "
                         "are kept",
                         Where::in(path));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw StorageError(fmt::format("cannot be written ({})", text),
                         "Check the directory and its permissions", Where::in(path));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw InvalidArgument("is in use by another process", "Wait for it to end", Where::in(path));
    default:
      throw StorageError(fmt::format("failed ({})", text), "See the text of SQLite",
                         Where::in(path));
  }
}

/// A prepared statement; parameters are bound in order, columns are read in order.
class Query {
 public:
  Query(sqlite3* db, const std::string& path, const char* sql) : db_(db), path_(path) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) fail(db, path);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { sqlite3_finalize(statement_); }

  Query& operator<<(std::int64_t value) {
    return check(sqlite3_bind_int64(statement_, ++bound_, value));
  }
  Query& operator<<(double value) {  // SQLite keeps NaN as NULL
    return check(sqlite3_bind_double(statement_, ++bound_, value));
  }
  Query& operator<<(const std::string& value) {
    return check(sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(),
                                     SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  Query& operator<<(const std::optional<std::uint64_t>& value) {
    return value ? *this << static_cast<std::int64_t>(*value)
                 : check(sqlite3_bind_null(statement_, ++bound_));
  }
  Query& operator<<(const std::vector<float>& values) {
    static_assert(std::endian::native == std::endian::little);
    return check(sqlite3_bind_blob64(statement_, ++bound_, values.data(),
                                     values.size() * sizeof(float), SQLITE_TRANSIENT));
  }
  Query& operator<<(const TrialKey& key) {
    return *this << std::int64_t{key.policy} << std::int64_t{key.pair} << std::int64_t{key.replica};
  }

  /// The next row, if there is one.
  bool next() {
    const int code = sqlite3_step(statement_);
    column_ = 0;
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail(db_, path_);
    return false;
  }
  /// Runs a statement without rows; it can then be bound anew.
  void run() {
    while (next()) {
    }
    sqlite3_reset(statement_);
    bound_ = 0;
  }
  void again() {
    sqlite3_reset(statement_);
    bound_ = 0;
  }

  std::int64_t integer() { return sqlite3_column_int64(statement_, column_++); }
  std::uint32_t small() { return static_cast<std::uint32_t>(integer()); }
  double real() {
    const int at = column_++;
    if (sqlite3_column_type(statement_, at) == SQLITE_NULL) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    return sqlite3_column_double(statement_, at);
  }
  std::optional<std::uint64_t> optional_integer() {
    if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
      ++column_;
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(integer());
  }
  std::string text() {
    const int at = column_++;
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, at));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, at));
    return bytes == nullptr ? std::string() : std::string(bytes, size);
  }
  std::vector<float> floats() {
    const int at = column_++;
    const void* bytes = sqlite3_column_blob(statement_, at);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, at));
    std::vector<float> values(size / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes, values.size() * sizeof(float));
    return values;
  }

 private:
  Query& check(int code) {
    if (code != SQLITE_OK) fail(db_, path_);
    return *this;
  }
  sqlite3* db_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0, column_ = 0;
};

TrialStatus parse_status(const std::string& text, const std::string& path) {
  for (const TrialStatus status : {TrialStatus::ok, TrialStatus::diverged, TrialStatus::failed}) {
    if (name(status) == text) return status;
  }
  throw InvalidArgument(fmt::format("has a trial of status `{}`", text),
                        "It was written by another program", Where::in(path));
}

}  // namespace

std::string_view name(TrialStatus status) {
  switch (status) {
    case TrialStatus::ok: return "ok";
    case TrialStatus::diverged: return "diverged";
    case TrialStatus::failed: return "failed";
  }
  throw InternalError("a trial status without a name");
}

class Ledger::Connection {
 public:
  enum class For {
    reading,
    adding_trials,  ///< under the lock, which one process holds
    noting,         ///< a row beside the trials, while another process may add trials
  };
  Connection(std::string path, For purpose) : path_(std::move(path)) {
    if (purpose == For::adding_trials) lock();
    const int flags = purpose == For::reading  ? SQLITE_OPEN_READONLY
                      : purpose == For::noting ? SQLITE_OPEN_READWRITE
                                               : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const bool sealed = purpose == For::reading && cannot_grow();
    const std::string name = sealed ? "file:" + uri_path() + "?immutable=1" : path_;
    if (sqlite3_open_v2(name.c_str(), &db_, sealed ? flags | SQLITE_OPEN_URI : flags, nullptr) !=
        SQLITE_OK) {
      fail(db_, path_);
    }
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, 10'000);  // a reader may hold the file for a moment
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    sqlite3_close_v2(db_);
    // Last: closing a descriptor of the file drops the process's other locks on it.
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void execute(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(db_, path_);
  }
  [[nodiscard]] Query query(const char* sql) const { return Query(db_, path_, sql); }
  [[nodiscard]] std::int64_t pragma(const char* sql) const {
    Query q(db_, path_, sql);
    return q.next() ? q.integer() : 0;
  }
  void rollback() { sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr); }
  [[nodiscard]] const std::string& path() const { return path_; }

  LedgerIdentity identity;

 private:
  /// Whether nobody can have it open to add to it here: SQLite then needs no files beside it, which it
  /// could not make.
  [[nodiscard]] bool cannot_grow() const {
    const std::size_t slash = path_.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    return ::access(directory.c_str(), W_OK) != 0 && ::access((path_ + "-wal").c_str(), F_OK) != 0;
  }
  [[nodiscard]] std::string uri_path() const {
    std::string text;
    for (const char c : path_) {
      if (c == '%' || c == '?' || c == '#') {
        text += fmt::format("%{:02X}", static_cast<unsigned>(c));
      } else {
        text += c;
      }
    }
    return text;
  }
  /// The lock belongs to the open file, so the system drops it whatever ends the process.
  void lock() {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ >= 0 && descriptor_ < 3) {
      // In a process whose standard output is closed: what it prints must not land in the ledger.
      const int low = std::exchange(descriptor_, ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 3));
      ::close(low);
    }
    if (descriptor_ < 0) {
      throw StorageError(fmt::format("cannot be opened for writing ({})", std::strerror(errno)),
                         "Check the directory and its permissions", Where::in(path_));
    }
    // Who asks is_growing() holds a lock for a moment.
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
      ::usleep(10'000);
    }
    ::close(std::exchange(descriptor_, -1));
    throw InvalidArgument("is in use by another process",
                          "Wait for it to end, or give this run a ledger of its own",
                          Where::in(path_));
  }

  std::string path_;
  sqlite3* db_ = nullptr;
  int descriptor_ = -1;
};

namespace {

constexpr const char* kChecksum = "checksum.";

/// SHA-256 of what the ledger is a ledger of.
std::string digest_of(const LedgerIdentity& identity) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", identity.study, identity.version, identity.instruction_set);
  for (const auto& [name, checksum] : identity.checksums) {
    text += fmt::format("{} {}\n", name, checksum);
  }
  return sha256(text);
}

void require_schema(std::int64_t application, std::int64_t version, const std::string& path) {
  if (application != kApplication) {
    throw InvalidArgument("is no ledger of sfumato", "Name another file", Where::in(path));
  }
  if (version != kSchemaVersion) {
    throw InvalidArgument(
        fmt::format("has schema version {}, this program reads {}", version, kSchemaVersion),
        "Use the program that wrote it, or start a new ledger", Where::in(path));
  }
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

const LedgerIdentity& Ledger::identity() const { return connection_->identity; }

Ledger Ledger::read(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) {
    throw InvalidArgument("there is no such ledger", "Make it with `sfumato study run`",
                          Where::in(path));
  }
  auto connection = std::make_unique<Connection>(path, Connection::For::reading);
  require_schema(connection->pragma("PRAGMA application_id"),
                 connection->pragma("PRAGMA user_version"), path);
  Query meta = connection->query("SELECT key, value FROM meta");
  std::string digest;
  while (meta.next()) {
    const std::string key = meta.text(), value = meta.text();
    if (key == "study") connection->identity.study = value;
    if (key == "version") connection->identity.version = value;
    if (key == "digest") digest = value;
    if (key == "instruction_set") connection->identity.instruction_set = value;
    if (key.starts_with(kChecksum)) {
      connection->identity.checksums[key.substr(std::strlen(kChecksum))] = value;
    }
  }
  if (digest != digest_of(connection->identity)) {
    throw InvalidArgument("is damaged: its study is not what was written",
                          "Restore it from a copy, or start a new one", Where::in(path));
  }
  return Ledger(std::move(connection));
}

bool Ledger::is_growing(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

void Ledger::require_whole(const Connection& connection, const std::string& path) {
  Query check = connection.query("PRAGMA quick_check(1)");
  std::string verdict = check.next() ? check.text() : "no answer";
  if (verdict == "ok") return;
  // A heading, then what is wrong.
  if (verdict.starts_with("***")) verdict.erase(0, verdict.find('\n') + 1);
  throw InvalidArgument(fmt::format("is damaged ({})", verdict.substr(0, verdict.find('\n'))),
                        "Restore it from a copy, or start a new one under another name",
                        Where::in(path));
}

Ledger Ledger::open(const std::string& path, const LedgerIdentity& identity,
                    const Differences& differences) {
  auto connection = std::make_unique<Connection>(path, Connection::For::adding_trials);
  const std::int64_t tables =
      connection->pragma("SELECT count(*) FROM sqlite_schema WHERE type = 'table'");
  if (tables == 0) {
    connection->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
    connection->execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                    kApplication, kSchemaVersion)
                            .c_str());
    connection->execute(kSchema);
    Query insert = connection->query("INSERT INTO meta VALUES(?, ?)");
    const auto put = [&](const std::string& key, const std::string& value) {
      (insert << key << value).run();
    };
    put("study", identity.study);
    put("version", identity.version);
    put("instruction_set", identity.instruction_set);
    for (const auto& [key, value] : identity.checksums) put(kChecksum + key, value);
    put("digest", digest_of(identity));
    connection->execute("COMMIT");
    connection->identity = identity;
    return Ledger(std::move(connection));
  }
  const LedgerIdentity theirs = Ledger::read(path).identity();
  const auto refuse = [&](const std::string& problem) {
    throw InvalidArgument(problem, "Give this run a ledger of its own with --ledger",
                          Where::in(path));
  };
  if (theirs.study != identity.study) {
    refuse(fmt::format("holds another study: {}",
                       fmt::join(differences(theirs.study, identity.study), "; ")));
  }
  if (theirs.version != identity.version) {
    refuse(fmt::format("was begun by version {}, this is {}", theirs.version, identity.version));
  }
  if (theirs.instruction_set != identity.instruction_set) {
    refuse(fmt::format("was computed with {}, this machine uses {}", theirs.instruction_set,
                       identity.instruction_set));
  }
  for (const auto& [key, value] : identity.checksums) {
    const auto found = theirs.checksums.find(key);
    if (found == theirs.checksums.end() || found->second != value) {
      refuse(fmt::format("was computed on other data: the checksum of {} differs", key));
    }
  }
  require_whole(*connection, path);
  connection->execute("PRAGMA synchronous = FULL");
  connection->identity = theirs;
  Ledger ledger(std::move(connection));
  ledger.for_each([](const TrialResult&) {});  // damage is found before more is trained
  return ledger;
}

void Ledger::commit(const std::vector<TrialResult>& trials) {
  connection_->execute("BEGIN IMMEDIATE");
  try {
    Query exists = connection_->query(
        "SELECT count(*) FROM trial WHERE policy = ? AND pair = ? AND replica = ?");
    Query trial = connection_->query("INSERT INTO trial VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    Query world = connection_->query("INSERT INTO world VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Query score = connection_->query("INSERT INTO score VALUES(?, ?, ?, ?, ?, ?, ?)");
    Query series = connection_->query("INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?)");
    for (const TrialResult& t : trials) {
      exists.again();
      exists << t.key;
      if (exists.next() && exists.integer() != 0) {
        throw InternalError(fmt::format("trial ({}, {}, {}) is in the ledger already", t.key.policy,
                                        t.key.pair, t.key.replica));
      }
      exists.again();
      (trial << t.key << std::string(name(t.status)) << t.message
             << static_cast<std::int64_t>(t.seed) << t.seconds << trial_digest(t))
          .run();
      for (std::size_t w = 0; w < t.worlds.size(); ++w) {
        const WorldResult& r = t.worlds[w];
        const auto number = static_cast<std::int64_t>(w);
        (world << t.key << number << r.diverged_at << r.training_loss << r.largest_loss
               << r.training_accuracy << r.test_accuracy << r.odometer
               << static_cast<std::int64_t>(r.infinite_steps))
            .run();
        for (std::size_t i = 0; i < r.scores.size(); ++i) {
          (score << t.key << number << static_cast<std::int64_t>(i) << r.scores[i].name
                 << r.scores[i].value)
              .run();
        }
        for (std::size_t i = 0; i < r.series.size(); ++i) {
          (series << t.key << number << static_cast<std::int64_t>(i) << r.series[i].name
                  << r.series[i].values)
              .run();
        }
      }
    }
    connection_->execute("COMMIT");
  } catch (...) {
    connection_->rollback();
    throw;
  }
}

std::set<TrialKey> Ledger::finished() const {
  std::set<TrialKey> keys;
  Query query = connection_->query("SELECT policy, pair, replica FROM trial");
  while (query.next()) keys.insert({query.small(), query.small(), query.small()});
  return keys;
}

std::map<TrialStatus, std::uint64_t> Ledger::counts() const {
  std::map<TrialStatus, std::uint64_t> counts;
  Query query = connection_->query("SELECT status, count(*) FROM trial GROUP BY status");
  while (query.next()) {
    const TrialStatus status = parse_status(query.text(), connection_->path());
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
  Query trial = connection_->query(
      "SELECT policy, pair, replica, status, message, seed, seconds, digest FROM trial "
      "ORDER BY policy, pair, replica");
  Query world = connection_->query(
      "SELECT world, diverged_at, training_loss, largest_loss, training_accuracy, test_accuracy, "
      "odometer, infinite_steps FROM world WHERE policy = ? AND pair = ? AND replica = ? "
      "ORDER BY world");
  Query score = connection_->query(
      "SELECT world, name, value FROM score WHERE policy = ? AND pair = ? AND replica = ? "
      "ORDER BY world, position");
  Query series = connection_->query(
      "SELECT world, name, floats FROM series WHERE policy = ? AND pair = ? AND replica = ? "
      "ORDER BY world, position");
  while (trial.next()) {
    TrialResult t;
    t.key = {trial.small(), trial.small(), trial.small()};
    t.status = parse_status(trial.text(), connection_->path());
    t.message = trial.text();
    t.seed = static_cast<std::uint64_t>(trial.integer());
    t.seconds = trial.real();
    const std::string digest = trial.text();
    world << t.key;
    while (world.next()) {
      (void)world.integer();
      WorldResult r;
      r.diverged_at = world.optional_integer();
      r.training_loss = world.real();
      r.largest_loss = world.real();
      r.training_accuracy = world.real();
      r.test_accuracy = world.real();
      r.odometer = world.real();
      r.infinite_steps = static_cast<std::uint64_t>(world.integer());
      t.worlds.push_back(std::move(r));
    }
    world.again();
    const auto of_world = [&](Query& query) -> WorldResult& {
      const auto number = static_cast<std::size_t>(query.integer());
      if (number >= t.worlds.size()) {
        throw InvalidArgument("is damaged: a score without its trial",
                              "Restore it from a copy, or start a new one",
                              Where::in(connection_->path()));
      }
      return t.worlds[number];
    };
    score << t.key;
    while (score.next()) {
      WorldResult& r = of_world(score);
      const std::string label = score.text();
      r.scores.push_back({label, score.real()});
    }
    score.again();
    series << t.key;
    while (series.next()) {
      WorldResult& r = of_world(series);
      const std::string label = series.text();
      r.series.push_back({label, series.floats()});
    }
    series.again();
    if (trial_digest(t) != digest) {
      throw InvalidArgument(fmt::format("is damaged: trial ({}, {}, {}) is not what was written",
                                        t.key.policy, t.key.pair, t.key.replica),
                            "Restore it from a copy, or start a new one",
                            Where::in(connection_->path()));
    }
    use(t);
  }
}

void Ledger::record_workers(unsigned workers) {
  Query query = connection_->query("INSERT OR REPLACE INTO meta VALUES('workers', ?)");
  (query << std::to_string(workers)).run();
}

unsigned Ledger::workers() const {
  Query query = connection_->query("SELECT value FROM meta WHERE key = 'workers'");
  return query.next() ? static_cast<unsigned>(std::strtoul(query.text().c_str(), nullptr, 10)) : 0;
}

void Ledger::record_look(std::uint64_t number, std::uint64_t trials) const {
  const Connection notes(connection_->path(), Connection::For::noting);
  Query query = notes.query("INSERT INTO look(number, trials) VALUES(?, ?)");
  (query << static_cast<std::int64_t>(number) << static_cast<std::int64_t>(trials)).run();
}

std::map<std::uint64_t, std::uint64_t> Ledger::looks() const {
  std::map<std::uint64_t, std::uint64_t> looks;
  Query query = connection_->query("SELECT number, trials FROM look");
  while (query.next()) {
    const auto number = static_cast<std::uint64_t>(query.integer());
    looks[number] = static_cast<std::uint64_t>(query.integer());
  }
  return looks;
}

}  // namespace sfumato
