#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato::cli {

/// Exit codes of every command (docs/decisions/0005-exit-codes.md).
enum ExitCode : int {
  kFine = 0,
  kViolated = 1,   ///< a claim was checked and is wrong
  kUndecided = 2,  ///< a claim was checked and could not be decided
  kUsage = 64,
  kBadInput = 65,
  kBug = 70,
  kStorage = 74,
  kInterrupted = 130,  ///< Ctrl-C, as shells report it; what was done is printed
};

/// One function per subcommand: declares its options and, as its callback, does the work and sets
/// `exit_code`. Errors are thrown; main turns them into one line and a code.
void add_audit(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app);
void add_bound(CLI::App& app, int& exit_code);
void add_data(CLI::App& app, int& exit_code);
void add_design(CLI::App& app, int& exit_code);
void add_quadratic(CLI::App& app, int& exit_code);
void add_rows(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_study(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);

/// Adds --json and returns nothing else: every command that prints a Document has it.
void add_json_flag(CLI::App& command, bool& json);

/// Writes the document to standard output, as JSON or as text for people.
/// Throws StorageError if the output cannot be written.
void print(const Document& document, bool json);

/// Writes text to standard output. Throws StorageError if it cannot be written.
void write_output(const std::string& text);

/// "2026-01-31 14:05 UTC"; what SOURCE_DATE_EPOCH says, if it is set to a number, for files that are
/// the same bytes whenever they are made.
[[nodiscard]] std::string time_now();

/// A document that carries the version of this program.
[[nodiscard]] Document new_document(const std::string& command, const std::string& title);

}  // namespace sfumato::cli
