#include "sfumato/storage/query.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

void fail_with_sqlite(sqlite3* db, const std::string& path) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  if ((code & 0xFF) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) throw std::bad_alloc();
  const std::string text = on_one_line(sqlite3_errmsg(db));
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:  // tables that are not there, a format of schema that SQLite does not know
      throw InvalidArgument(fmt::format("is no file of sfumato's or is damaged ({})", text),
                            "Restore it from a copy", Where::in(path));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw StorageError(fmt::format("cannot be written ({})", text),
                         "Make room on the disk and run the same command again: what was stored "
                         "is kept",
                         Where::in(path));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw StorageError(fmt::format("cannot be written ({})", text),
                         "Check its permissions and those of the directory", Where::in(path));
    case SQLITE_CANTOPEN:
      throw StorageError(fmt::format("cannot be opened ({})", text),
                         "Check its permissions and those of the directory", Where::in(path));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw InvalidArgument("is in use by another process", "Wait for it to end", Where::in(path));
    default:
      throw StorageError(fmt::format("failed ({})", text), "See the text of SQLite",
                         Where::in(path));
  }
}

void refuse_damaged(const std::string& path, const std::string& what) {
  throw InvalidArgument("is damaged: " + what, "Restore it from a copy", Where::in(path));
}

Query::Query(sqlite3* db, const std::string& path, const char* sql) : db_(db), path_(path) {
  if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) {
    fail_with_sqlite(db, path);
  }
}

Query::~Query() { sqlite3_finalize(statement_); }

Query& Query::operator<<(std::int64_t value) {
  return check(sqlite3_bind_int64(statement_, ++bound_, value));
}

Query& Query::operator<<(double value) {
  return check(sqlite3_bind_double(statement_, ++bound_, value));
}

Query& Query::operator<<(const std::string& value) {
  return check(sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8));
}

Query& Query::operator<<(const std::optional<std::uint64_t>& value) {
  return value ? *this << static_cast<std::int64_t>(*value)
               : check(sqlite3_bind_null(statement_, ++bound_));
}

Query& Query::operator<<(const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  return check(sqlite3_bind_blob64(statement_, ++bound_, values.data(),
                                   values.size() * sizeof(float), SQLITE_TRANSIENT));
}

bool Query::next() {
  const int code = sqlite3_step(statement_);
  column_ = 0;
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail_with_sqlite(db_, path_);
  return false;
}

void Query::run() {
  while (next()) {
  }
  again();
}

void Query::again() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

std::int64_t Query::integer() { return sqlite3_column_int64(statement_, column_++); }

double Query::real() {
  const int at = column_++;
  if (sqlite3_column_type(statement_, at) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(statement_, at);
}

std::optional<std::uint64_t> Query::optional_integer() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(integer());
}

std::string Query::text() {
  const int at = column_++;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, at));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, at));
  if (bytes == nullptr && sqlite3_errcode(db_) == SQLITE_NOMEM) throw std::bad_alloc();
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

std::vector<float> Query::floats() {
  const int at = column_++;
  const void* bytes = sqlite3_column_blob(statement_, at);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, at));
  if (size % sizeof(float) != 0) refuse_damaged(path_, "a series ends within a number");
  std::vector<float> values(size / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes, size);
  return values;
}

Query& Query::check(int code) {
  if (code != SQLITE_OK) fail_with_sqlite(db_, path_);
  return *this;
}

}  // namespace sfumato
