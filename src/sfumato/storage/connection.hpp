#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sfumato/storage/query.hpp"

namespace sfumato {

/// The lock of the process that adds to a file. It belongs to the open file, so the system drops it
/// whatever ends the process.
class FileLock {
 public:
  enum class Of {
    any_file,  ///< made if there is none
    new_file,  ///< refused if there is one
  };
  /// A file that is made is for its owner and, if the umask allows it, its group to read (0640).
  /// `path` is what messages call it.
  /// Throws   StorageError if the file cannot be opened for writing; InvalidArgument if another process has
  ///          the lock, or the file exists and should not.
  FileLock(const std::string& file, const std::string& path, Of which);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// Closes a descriptor of the file, which drops every POSIX lock of the process on it: close databases
  /// on it first.
  ~FileLock();

  /// Whether a process has the lock now.
  [[nodiscard]] static bool is_held(const std::string& file);

 private:
  int descriptor_ = -1;
};

}  // namespace sfumato

struct sqlite3;

namespace sfumato {

/// Refuses a database beside which stands a file of another kind by a name that SQLite uses (-journal, -wal, -shm).
/// Throws   StorageError.
void require_free_names(const std::string& file, const std::string& path);

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

/// Whether nothing was ever written to the database: a new file, or one whose maker was ended at once.
[[nodiscard]] bool is_blank(const DatabaseConnection& connection);

/// Throws   InvalidArgument unless the tables are those that `tables` makes and nothing else is there (a view in the place of
///          a table, a trigger), and SQLite finds the pages sound.
void require_tables(const DatabaseConnection& connection, const char* tables);

}  // namespace sfumato
