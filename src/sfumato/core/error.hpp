#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace sfumato {

/// Where an error was noticed: in something that a user wrote, or in a function that was called.
class Where {
 public:
  /// The calling function, or another part of the program by its name. As a default argument it
  /// names the caller of the function that has it.
  [[nodiscard]] static Where here(const char* function = __builtin_FUNCTION()) {
    return {function, true};
  }
  /// A user's file as a whole, or an option.
  [[nodiscard]] static Where in(const std::string& path) { return {path, false}; }
  /// A line, and where known a column, of a user's file; both count from 1, 0 means unknown.
  [[nodiscard]] static Where at(const std::string& path, std::size_t line, std::size_t column = 0);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// True for a part of the program, which tells a user of the command line nothing.
  [[nodiscard]] bool is_function() const { return is_function_; }

 private:
  Where(std::string text, bool is_function) : text_(std::move(text)), is_function_(is_function) {}
  std::string text_;
  bool is_function_;
};

/// Root of what the library throws. The message is one line: where, what was wrong, what to do.
class Error : public std::runtime_error {
 public:
  /// `remedy` may be empty.
  Error(const std::string& problem, const std::string& remedy, const Where& where);

  /// What was wrong and what to do, without where.
  [[nodiscard]] const char* advice() const { return what() + advice_begins_; }
  /// True if the place is a function and not something that a user wrote.
  [[nodiscard]] bool is_in_function() const { return is_in_function_; }

 private:
  std::size_t advice_begins_;
  bool is_in_function_;
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
