#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sfumato/core/verdict.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/report/document.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace sfumato::apps {

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

/// The code of an answer; whether it was stopped matters only where no claim was refuted.
[[nodiscard]] ExitCode code_of(Verdict verdict, bool stopped = false);

/// A subcommand that was declared and what it does. Errors are thrown; main turns them into one line
/// and a code.
struct Command {
  CLI::App* app;
  std::function<ExitCode()> run;
  bool reads_study =
      false;  ///< TOML files that it takes are studies: its own keys are options alone
};
using Commands = std::vector<Command>;

/// One function per subcommand: declares its options and what they ask for.
void add_account(CLI::App& app, Commands& commands);
void add_audit(CLI::App& app, Commands& commands);
void add_bench(CLI::App& app, Commands& commands);
void add_bound(CLI::App& app, Commands& commands);
void add_budget(CLI::App& app, Commands& commands);
void add_data(CLI::App& app, Commands& commands);
void add_design(CLI::App& app, Commands& commands);
void add_fit(CLI::App& app, Commands& commands);
void add_quadratic(CLI::App& app, Commands& commands);
void add_rows(CLI::App& app, Commands& commands);
void add_report(CLI::App& app, Commands& commands);
void add_reproduce(CLI::App& app, Commands& commands);
void add_train(CLI::App& app, Commands& commands);
void add_study(CLI::App& app, Commands& commands);
void add_verify(CLI::App& app, Commands& commands);

/// Refuses what the command line says, as wrong usage: `key` is the name of an option without dashes.
[[noreturn]] void refuse_usage(const std::string& key, const std::string& problem);

/// How a command shows its answer.
struct Output {
  bool json = false;
  bool full = false;   ///< everything, not only what was asked
  std::string report;  ///< also a page, at this path
  bool force = false;  ///< replace files
};

/// Whether something is shown beyond the brief text.
[[nodiscard]] inline bool shows_all(const Output& output) {
  return output.full || output.json || !output.report.empty();
}

/// Adds --full, --json, --report, --force and --group-readable.
void add_output_options(CLI::App& command, Output& output);

/// prepare_outputs() of everything that a command writes, the page among it.
/// Throws   InvalidArgument as that, and for a page whose name does not end in .html; StorageError.
void prepare_files(const std::vector<std::string>& inputs, std::vector<PlannedFile> outputs,
                   const Output& output);

/// Writes the answer to standard output, as text for people, as wide as their terminal, or as JSON; and the page,
/// if one is wanted. `document` is document_of() of the answer.
/// Throws   StorageError if something cannot be written.
void show(const std::function<Document(Detail)>& document, const Output& output);

/// The page alone, if one is wanted, of a document in full.
void write_page(const std::function<Document()>& document, const Output& output);

/// For commands that have no answer of their own: adds --json, and prints a document in full.
void add_json_flag(CLI::App& command, bool& json);
void print(const Document& document, bool json);

/// Writes text to standard output. Throws StorageError if it cannot be written.
void write_output(const std::string& text);

/// "2026-01-31 14:05 UTC"; what SOURCE_DATE_EPOCH says, if it is set to a number, for files that are
/// the same bytes whenever they are made.
[[nodiscard]] std::string time_now();

}  // namespace sfumato::apps
