#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "sfumato/account/named_model.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/files_as_found.hpp"
#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/fit/fit_keys.hpp"

namespace sfumato::apps {
namespace {

struct FitCommand {
  std::string file;  ///< a table, or a TOML file of keys
  KeyOptions keys;
  std::string out, statement, template_file;
  Output output;
};

ExitCode write_template(FitCommand& command) {
  FitQuestion question;
  question.table = command.file;
  question.target = command.keys.text("target");
  prepare_files({command.file}, {{"template", command.template_file}}, command.output);
  write_file(command.template_file, bounds_template(question), {command.output.force});
  write_output("Wrote " + command.template_file +
               ". For each column: its kind (numeric; category for texts; ignore)\n"
               "and its range or levels from what is known without this table; then the number\n"
               "of records that no table exceeds. docs/fit.md explains each field.\n");
  return kFine;
}

/// What is written, the account beside a model among it.
void prepare(const FitCommand& command, const FitQuestion& question,
             std::vector<std::string> inputs) {
  const std::string account = command.out.empty() ? "" : account_file(command.out);
  // A model may take the place of the one that it continues: it has the account of both.
  std::error_code ignored;
  for (const std::string& file : {command.out, account}) {
    if (!std::filesystem::equivalent(question.after, file, ignored)) continue;
    std::erase(inputs, question.after);
  }
  std::vector<PlannedFile> outputs = {{"out", command.out, true}, {"statement", command.statement}};
  if (account != command.out) outputs.push_back({"out", account, true});
  prepare_files(inputs, std::move(outputs), command.output);
}

ExitCode fit(FitCommand& command) {
  if (!command.template_file.empty()) return write_template(command);
  const bool toml = command.file.ends_with(".toml");
  if (!toml) command.keys.give("table", {command.file});
  const TomlTable table = command.keys.table(toml ? command.file : "");
  FitQuestion question;
  read_keys(question, table, fit_keys());
  keep_private(question.table);
  const FitFiles files{command.out, command.statement, command.output.force};
  const FilesAsFound as_found(written_files(files));
  prepare(command, question, command.keys.inputs(table, toml ? command.file : ""));
  require_publishable(question, files);
  TerminalObserver observer;
  const FitAnswer found = located_keys(table, [&] { return answer(question, observer); });
  observer.finish();
  const bool published = !found.stopped && found.verdict != Verdict::violated;
  const std::string digest = published ? publish(found, files, as_found) : "";
  show(
      [&](Detail detail) {
        Document document = document_of(found, detail);
        if (detail == Detail::full) name_model(document, files.model, digest);
        return document;
      },
      command.output);
  return code_of(found.verdict, found.stopped);
}

}  // namespace

void add_fit(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "fit", "Fit a linear, logistic or softmax regression to a table, with a guarantee");
  const auto options = std::make_shared<FitCommand>();
  command->add_option("TABLE.csv", options->file,
                      "Table with a header row, or a TOML file with the options as keys");
  options->keys.declare(*command, infos_of(fit_keys()), {"table"});
  command->add_option("--out", options->out, "Write the model to this file (.json, .csv or .npz)")
      ->type_name("FILE");
  command
      ->add_option("--statement", options->statement,
                   "Write a privacy statement for a model card to this file")
      ->type_name("FILE.md");
  command
      ->add_option("--template", options->template_file,
                   "Write a file of bounds to fill in, and do nothing else")
      ->type_name("FILE.csv");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato fit table.csv --target income --template bounds.csv\n"
      "  sfumato fit table.csv --target income --model ridge --bounds bounds.csv \\\n"
      "      --target-epsilon 1 --target-delta 1e-6 --out model.json --statement PRIVACY.md\n"
      "The bounds must come from outside the table: numbers taken from it void the guarantee "
      "(docs/fit.md).");
  show_first(*command, {"target", "after", "out", "statement", "template"});
  commands.push_back({command, [options] { return fit(*options); }});
}

}  // namespace sfumato::apps
