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
    return {function, Kind::function};
  }
  /// A user's file as a whole.
  [[nodiscard]] static Where in(const std::string& path) { return {path, Kind::file}; }
  /// A line, and where known a column, of a user's file; both count from 1, 0 means unknown.
  [[nodiscard]] static Where at(const std::string& path, std::size_t line, std::size_t column = 0);
  /// A key of a question, by its name: `noise`. What asked the question says where it was given.
  [[nodiscard]] static Where key(const std::string& name) { return {name, Kind::key}; }
  /// An option of the command line: --noise.
  [[nodiscard]] static Where option(const std::string& name) { return {name, Kind::option}; }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// True for a part of the program, which tells a user of the command line nothing.
  [[nodiscard]] bool is_function() const { return kind_ == Kind::function; }
  [[nodiscard]] bool is_key() const { return kind_ == Kind::key; }
  [[nodiscard]] bool is_option() const { return kind_ == Kind::option; }

 private:
  enum class Kind { function, file, key, option };
  Where(std::string text, Kind kind) : text_(std::move(text)), kind_(kind) {}
  std::string text_;
  Kind kind_;
};

/// Root of what the library throws. The message is one line: where, what was wrong, what to do.
class Error : public std::runtime_error {
 public:
  /// `remedy` may be empty.
  Error(const std::string& problem, const std::string& remedy, const Where& where);

  /// What was wrong and what to do, without where.
  [[nodiscard]] const char* advice() const { return what() + where_.text().size() + 2; }
  [[nodiscard]] const Where& where() const { return where_; }

 private:
  Where where_;
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
