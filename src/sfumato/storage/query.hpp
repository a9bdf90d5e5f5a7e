#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace sfumato {

/// The message of SQLite, without control characters: it quotes what stands in a damaged file.
[[nodiscard]] std::string on_one_line(std::string text);

/// Turns SQLite's answer into the error its reader can act on: InvalidArgument for a file that is damaged,
/// no database, or in use; StorageError for a disk that is full or a directory that cannot be written.
[[noreturn]] void fail_with_sqlite(sqlite3* db, const std::string& path);

/// InvalidArgument: the file is not what was written.
[[noreturn]] void refuse_damaged(const std::string& path, const std::string& what);

/// A prepared statement; parameters are bound in order, columns are read in order.
class Query {
 public:
  /// `path` outlives the query.
  Query(sqlite3* db, const std::string& path, const char* sql);
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  Query& operator<<(std::int64_t value);
  Query& operator<<(double value);  ///< SQLite keeps NaN as NULL
  Query& operator<<(const std::string& value);
  Query& operator<<(const std::optional<std::uint64_t>& value);
  Query& operator<<(const std::vector<float>& values);

  /// The next row, if there is one.
  bool next();
  /// Runs a statement without rows; it can then be bound anew.
  void run();
  /// Before parameters are bound anew.
  void again();

  std::int64_t integer();
  double real();  ///< NULL is NaN
  std::optional<std::uint64_t> optional_integer();
  std::string text();
  std::vector<float> floats();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Query& check(int code);
  sqlite3* db_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0, column_ = 0;
};

}  // namespace sfumato
