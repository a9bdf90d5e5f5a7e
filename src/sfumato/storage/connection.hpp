#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sfumato/storage/file_lock.hpp"
#include "sfumato/storage/query.hpp"

struct sqlite3;

namespace sfumato {

/// An open SQLite file. What the file's author may have put into it, views and triggers for instance, does
/// not run.
class DatabaseConnection {
 public:
  enum class For {
    reading,
    adding_trials,  ///< under the lock, which one process holds
    making,         ///< a new file, under the lock
    noting,         ///< a row beside the trials, while another process may add trials
  };
  /// Throws   InvalidArgument if it is no regular file or may not be read, as FileLock, and what SQLite says.
  DatabaseConnection(std::string path, For purpose);
  DatabaseConnection(const DatabaseConnection&) = delete;
  DatabaseConnection& operator=(const DatabaseConnection&) = delete;
  /// Whoever closes a trusted file last moves what is in the -wal beside it into the file, so that a copy
  /// of the file is whole.
  ~DatabaseConnection();

  void execute(const char* sql);
  [[nodiscard]] Query query(const char* sql) const { return Query(db_, path_, sql); }
  /// The first column of the first row.
  [[nodiscard]] std::int64_t number(const char* sql) const;
  /// As the user wrote it.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The file holds what it says. Until then closing it leaves file and -wal as they are: a -wal beside
  /// a file that was put back from a copy does not belong to it, and would spoil it.
  void trust();
  /// Whether a -wal with something in it was beside the file when it was opened.
  [[nodiscard]] bool had_wal() const { return had_wal_; }

 private:
  /// Whether nobody can be adding to it: SQLite then needs no files beside it, which it could not make.
  [[nodiscard]] bool is_sealed() const;
  void defend();

  std::string path_;  ///< as the user wrote it, for messages
  std::string file_;  ///< absolute: SQLite gives names such as `:memory:` and `file:x` a meaning
  bool had_wal_ = false;
  std::optional<FileLock> lock_;  ///< goes after the database is closed
  sqlite3* db_ = nullptr;
};

/// Everything or nothing: what is not committed is rolled back.
class Transaction {
 public:
  explicit Transaction(DatabaseConnection& connection);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  DatabaseConnection& connection_;
  bool committed_ = false;
};

/// Where the file is, with links followed.
/// Throws   InvalidArgument if it is a directory, a pipe or a device.
[[nodiscard]] std::string ledger_file(const std::string& path);

}  // namespace sfumato
