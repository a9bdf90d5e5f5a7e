#pragma once

#include <stdexcept>
#include <string>

namespace sfumato {

/// Where an error was noticed: a place in a user's file, or the function that was called.
class Where {
 public:
  /// The calling function. As a default argument it names the caller of the function that has it.
  [[nodiscard]] static Where here(const char* function = __builtin_FUNCTION()) {
    return Where(function);
  }
  /// A user's file as a whole.
  [[nodiscard]] static Where in(const std::string& path) { return Where(path); }
  /// A line, and where known a column, of a user's file; both count from 1, 0 means unknown.
  [[nodiscard]] static Where at(const std::string& path, std::size_t line, std::size_t column = 0);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  explicit Where(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// Root of what the library throws. The message is one line: where, what was wrong, what to do.
class Error : public std::runtime_error {
 public:
  Error(const std::string& problem, const std::string& remedy, const Where& where);
};

/// The caller or a user's file gave something that cannot be used.
class InvalidArgument : public Error {
 public:
  InvalidArgument(const std::string& problem, const std::string& remedy,
                  const Where& where = Where::here())
      : Error(problem, remedy, where) {}
};

/// The input is legal but no trustworthy number can be given for it.
class NumericalFailure : public Error {
 public:
  NumericalFailure(const std::string& problem, const std::string& remedy,
                   const Where& where = Where::here())
      : Error(problem, remedy, where) {}
};

/// A file or a database cannot be written or has no room.
class StorageError : public Error {
 public:
  StorageError(const std::string& problem, const std::string& remedy,
               const Where& where = Where::here())
      : Error(problem, remedy, where) {}
};

/// A broken invariant: our bug.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& problem, const Where& where = Where::here())
      : Error(problem, "This is a bug in sfumato: please report it with the command line", where) {}
};

}  // namespace sfumato
