#include "sfumato/storage/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

namespace fs = std::filesystem;

/// A path as part of a URI of SQLite.
std::string uri_of(const std::string& file) {
  std::string text = "file:";
  for (const char c : file) {
    if (c == '%' || c == '?' || c == '#') {
      text += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text;
}

void require_readable(const std::string& file, const std::string& path) {
  if (::access(file.c_str(), F_OK) != 0) {
    throw InvalidArgument("there is no such ledger", "Make it with `sfumato study run`",
                          Where::in(path));
  }
  if (::access(file.c_str(), R_OK) != 0) {
    throw InvalidArgument(fmt::format("cannot be read ({})", std::strerror(errno)),
                          "Check its permissions", Where::in(path));
  }
}

}  // namespace

std::string ledger_file(const std::string& path) {
  std::error_code problem;
  const fs::path file = fs::weakly_canonical(fs::absolute(path, problem), problem);
  const fs::file_status status = fs::status(problem ? fs::path(path) : file, problem);
  if (fs::is_directory(status)) {
    throw InvalidArgument("is a directory", "Name a file in it", Where::in(path));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InvalidArgument("is no regular file", "Name an ordinary file on a disk", Where::in(path));
  }
  // What cannot be resolved cannot be opened either, and opening says why.
  return file.empty() ? fs::absolute(path, problem).string() : file.string();
}

namespace {

/// Whether no file of another kind has this name. Asked again for a second before it says so: another process may be
/// writing its journal at this moment, and half of a head is nobody's.
bool is_free_for_sqlite(const std::string& name, const std::vector<std::string>& heads) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::error_code none;
    const fs::file_type type = fs::symlink_status(name, none).type();
    if (type == fs::file_type::not_found) return true;
    if (type != fs::file_type::regular) continue;
    std::string head(4, '\0');
    std::ifstream beside(name, std::ios::binary);
    beside.read(head.data(), 4);
    const bool is_zero = head == std::string(4, '\0');
    const auto is_head = [&](const std::string& known) { return head.starts_with(known); };
    if (is_zero || std::any_of(heads.begin(), heads.end(), is_head)) return true;
  }
  return false;
}

}  // namespace

void require_free_names(const std::string& file, const std::string& path) {
  // What each begins with; empty and zeroed files are SQLite's too.
  struct Sibling {
    const char* suffix;
    std::vector<std::string> heads;
  };
  const Sibling siblings[] = {{"-journal", {"\xD9\xD5\x05\xF9"}},
                              {"-wal", {"\x37\x7F\x06\x82", "\x37\x7F\x06\x83"}},
                              {"-shm", {"\x18\xE2\x2D", "\xE2\x2D"}}};
  for (const auto& [suffix, heads] : siblings) {
    if (is_free_for_sqlite(file + suffix, heads)) continue;
    throw StorageError(fmt::format("the file {}{} is none of SQLite's, which would take it for its "
                                   "own and delete it",
                                   fs::path(path).filename().string(), suffix),
                       "Move it away, or choose another name", Where::in(path));
  }
}

namespace {

/// SQLite keeps the journal of a change beside the name by which the file was opened: by another name of the file a change that was interrupted would not be seen,
/// and what is written by it would be undone later.
void require_one_name(const std::string& file, const std::string& path) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || status.st_nlink < 2) return;
  throw StorageError(
      fmt::format("has {} names (hard links), and a change that is interrupted would "
                  "be lost by the others",
                  status.st_nlink),
      "Copy it to a file of its own and use that name alone", Where::in(path));
}

}  // namespace

DatabaseConnection::DatabaseConnection(std::string path, For purpose)
    : path_(std::move(path)), file_(ledger_file(path_)) {
  require_free_names(file_, path_);
  if (purpose == For::reading) require_readable(file_, path_);
  if (purpose != For::reading) require_one_name(file_, path_);
  if (purpose == For::adding_trials) lock_.emplace(file_, path_, FileLock::Of::any_file);
  if (purpose == For::making) lock_.emplace(file_, path_, FileLock::Of::new_file);
  std::error_code none;
  const auto wal_size = fs::file_size(file_ + "-wal", none);
  had_wal_ = !none && wal_size > 0;

  const bool sealed = purpose == For::reading && is_sealed();
  const std::string name = sealed ? uri_of(file_) + "?immutable=1" : file_;
  const int flags =
      sealed ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;  // it exists
  if (const int code = sqlite3_open_v2(name.c_str(), &db_, flags, nullptr); code != SQLITE_OK) {
    // A constructor that throws runs no destructor.
    const bool no_memory = db_ == nullptr || (code & 0xFF) == SQLITE_NOMEM;
    const std::string text = no_memory ? "" : sqlite3_errmsg(db_);
    sqlite3_close_v2(db_);
    if (no_memory) throw std::bad_alloc();
    throw StorageError(fmt::format("cannot be opened ({})", text),
                       "Check its permissions and those of the directory", Where::in(path_));
  }
  try {
    defend();
    if (purpose == For::reading) execute("PRAGMA query_only = ON");
  } catch (...) {
    sqlite3_close_v2(db_);
    throw;
  }
}

DatabaseConnection::~DatabaseConnection() { sqlite3_close_v2(db_); }

void DatabaseConnection::defend() {
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, 10'000);  // a reader may hold the file for a moment
  const auto set = [&](int option, int value) {
    if (sqlite3_db_config(db_, option, value, nullptr) != SQLITE_OK) fail_with_sqlite(db_, path_);
  };
  set(SQLITE_DBCONFIG_DEFENSIVE, 1);
  set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  if (had_wal_) set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
  execute("PRAGMA cell_size_check = ON");
}

void DatabaseConnection::trust() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

void DatabaseConnection::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail_with_sqlite(db_, path_);
}

std::int64_t DatabaseConnection::number(const char* sql) const {
  Query q = query(sql);
  return q.next() ? q.integer() : 0;
}

bool DatabaseConnection::is_sealed() const {
  const std::string directory = fs::path(file_).parent_path().string();
  const bool writable =
      ::access(directory.c_str(), W_OK) == 0 && ::access(file_.c_str(), W_OK) == 0;
  return !writable && ::access((file_ + "-wal").c_str(), F_OK) != 0;
}

Transaction::Transaction(DatabaseConnection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (committed_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (...) {  // SQLite has rolled back by itself, as after a full disk
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  committed_ = true;
}

namespace {

int make(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0640);
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0) {
    (void)::fchmod(descriptor, status.st_mode | S_IRUSR | S_IWUSR);  // if the umask took them away
  }
  return descriptor;
}

int open_or_make(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_size == 0 &&
      S_ISREG(status.st_mode)) {
    (void)::fchmod(descriptor, S_IRUSR | S_IWUSR);  // nothing is in it yet: as private as a new one
  }
  return descriptor < 0 && errno == ENOENT ? make(file, 0) : descriptor;
}

}  // namespace

FileLock::FileLock(const std::string& file, const std::string& path, Of which)
    : descriptor_(which == Of::new_file ? make(file, O_EXCL) : open_or_make(file)) {
  if (descriptor_ >= 0 && descriptor_ < 3) {
    // In a process whose standard output is closed: what it prints must not land in the file.
    const int low = std::exchange(descriptor_, ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 3));
    ::close(low);
  }
  if (descriptor_ < 0 && errno == EEXIST) {
    throw InvalidArgument("exists already", "Choose another name, or remove it first",
                          Where::in(path));
  }
  if (descriptor_ < 0) {
    throw StorageError(fmt::format("cannot be opened for writing ({})", std::strerror(errno)),
                       "Check the directory and its permissions", Where::in(path));
  }
  // Who asks is_held() has a lock for a moment.
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::usleep(10'000);
  }
  ::close(std::exchange(descriptor_, -1));
  throw InvalidArgument("is in use by another process",
                        "Wait for it to end, or give this run a ledger of its own",
                        Where::in(path));
}

FileLock::~FileLock() { ::close(descriptor_); }

bool FileLock::is_held(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

namespace {

constexpr const char* kSchemaText =
    "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_schema "
    "ORDER BY name, type";

std::vector<std::string> texts(Query&& query) {
  std::vector<std::string> all;
  while (query.next()) all.push_back(query.text());
  return all;
}

/// The schema as SQLite notes it, from some that are made in memory.
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
