#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

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
  /// A row, from 0, of a table that was handed over in memory, by its name.
  [[nodiscard]] static Where row(const std::string& table, std::size_t index);
  /// A key of a question, by its name: `noise`. What asked the question says where it was given.
  [[nodiscard]] static Where key(const std::string& name) { return {name, Kind::key}; }
  /// What stands for a key where the question is asked: the option --noise, the keyword noise.
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

/// How a front end calls a key of a question, --ridge; empty: it has no name of its own for that one.
using CallKey = std::function<std::string(const std::string& key)>;

/// Root of what the library throws. The message is one line: where, what was wrong, what to do.
class Error : public std::runtime_error {
 public:
  /// What was wrong, with the value of which key if it is about one: `steps` = 2.5 is not an integer. Keys of questions stand in
  /// backticks, and each front end calls them in its own way.
  struct Problem {
    Problem(std::string what) : text(std::move(what)) {}
    Problem(const char* what) : text(what) {}
    /// `joint` stands between the key and what is said of its value: " = ".
    Problem(std::string about, std::string between, std::string what)
        : key(std::move(about)), joint(std::move(between)), text(std::move(what)) {}

    std::string key = {};  ///< by its path in the file: risk.delta; empty: of none
    std::string joint = {};
    std::string text;
  };

  /// `remedy` may be empty.
  Error(const Problem& problem, const std::string& remedy, const Where& where);
  /// The same problem, noticed elsewhere.
  Error(const Error& same, const Where& where) : Error(same.problem_, same.remedy_, where) {}
  /// The same problem, with further advice behind it.
  Error(const Error& same, const std::string& further);

  /// What was wrong and what to do, without where.
  [[nodiscard]] std::string advice() const;
  /// The whole message, with each key as `call` calls it.
  [[nodiscard]] std::string message(const CallKey& call) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Where& where() const { return where_; }

 private:
  Problem problem_;
  std::string remedy_;
  Where where_;
};

/// The caller or a user's file gave something that cannot be used.
class InvalidArgument : public Error {
 public:
  InvalidArgument(const Problem& problem, const std::string& remedy,
                  const Where& where = Where::here())
      : Error(problem, remedy, where) {}
  InvalidArgument(const InvalidArgument& same, const Where& where) : Error(same, where) {}
  InvalidArgument(const InvalidArgument& same, const std::string& further) : Error(same, further) {}
};

/// The input is legal but no trustworthy number can be given for it.
class NumericalFailure : public Error {
 public:
  NumericalFailure(const Problem& problem, const std::string& remedy,
                   const Where& where = Where::here())
      : Error(problem, remedy, where) {}
  NumericalFailure(const NumericalFailure& same, const Where& where) : Error(same, where) {}
};

/// A file or a database cannot be written or has no room.
class StorageError : public Error {
 public:
  StorageError(const Problem& problem, const std::string& remedy,
               const Where& where = Where::here())
      : Error(problem, remedy, where) {}
};

/// A broken invariant: our bug.
class InternalError : public Error {
 public:
  explicit InternalError(const Problem& problem, const Where& where = Where::here())
      : Error(problem, "This is a bug in sfumato: please report it with the command line", where) {}
};

}  // namespace sfumato
