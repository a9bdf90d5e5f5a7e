#include "sfumato/storage/connection.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

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

DatabaseConnection::DatabaseConnection(std::string path, For purpose)
    : path_(std::move(path)), file_(ledger_file(path_)) {
  if (purpose == For::reading) require_readable(file_, path_);
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

}  // namespace sfumato
