#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/account/account_answer.hpp"
#include "sfumato/account/account_keys.hpp"
#include "sfumato/account/releases.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/account/statement_forms.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/files_as_found.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::apps {
namespace {

struct AccountOptions {
  std::string file;  ///< releases (TOML), or the state of another accountant (JSON)
  KeyOptions keys;
  std::string statement, statement_form, trade_off;
  std::string save;
  Output output;
};

/// By the option, or else by the name of the file.
StatementForm form_asked(const AccountOptions& options) {
  for (const StatementForm form : kStatementForms) {
    if (name(form) == options.statement_form) return form;
  }
  return form_of_file(options.statement);
}

ExitCode account(AccountOptions& options) {
  const bool is_history = options.file.ends_with(".json");
  if (is_history) options.keys.give("history", {options.file});
  const TomlTable table = options.keys.table(is_history ? "" : options.file);
  const std::vector<std::string> inputs =
      options.keys.inputs(table, is_history ? "" : options.file);
  if (!options.file.empty() && !is_history) require_whole_account(options.file);
  const FilesAsFound as_found({options.save, options.statement, options.trade_off});
  const AccountAnswer found = located_keys(table, account_infos(), [&] {
    AccountQuestion question = read_account_question(table);
    question.curves = shows_all(options.output);
    prepare_files(inputs,
                  {{"statement", options.statement},
                   {"trade-off", options.trade_off},
                   {"save", options.save, continues_account(question, options.save)}},
                  options.output);
    TerminalObserver observer;
    return answer(question, observer);
  });
  const DirectoryLocks locks = as_found.still_so();
  // Stopped, there may be no setting to state or to save.
  if (!options.save.empty() && !found.stopped) {
    write_file(options.save, save({accountant_of(found)}, found.delta), {options.output.force});
  }
  if (!options.statement.empty() && !found.stopped) {
    const StatementForm form = form_asked(options);
    write_file(options.statement, written(statement_of(found), form), {options.output.force});
  }
  if (!options.trade_off.empty() && !found.stopped) {
    write_file(options.trade_off, trade_off_text(found, options.trade_off.ends_with(".json")),
               {options.output.force});
  }
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(found.verdict, found.stopped);
}

}  // namespace

void add_account(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "account",
      "Certify the epsilon of a training run, find the noise for a target, check a claim");
  const auto options = std::make_shared<AccountOptions>();
  command->add_option(
      "FILE", options->file,
      "Releases (TOML, docs/account.md), or the state of an Opacus accountant (JSON)");
  options->keys.declare(*command, account_infos(), {"history", "format"});
  options->keys.declare_settings(*command);
  auto* statement =
      command
          ->add_option(
              "--statement", options->statement,
              "Write a privacy statement to this file: .md for a model card, .yaml for the "
              "deployments registry, .json")
          ->type_name("FILE.md");
  command
      ->add_option("--statement-format", options->statement_form,
                   "Its form, whatever the file is called: also `checklist`, of NIST SP 800-226 "
                   "and W3C")
      ->needs(statement)
      ->check(CLI::IsMember({"markdown", "registry", "checklist", "json"}))
      ->type_name("FORM");
  command
      ->add_option("--trade-off", options->trade_off,
                   "Write the best attack's rates to this file (CSV, JSON)")
      ->type_name("FILE.csv");
  command
      ->add_option("--save", options->save, "Write the releases to this file, to add others later")
      ->type_name("FILE.toml");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato account --noise-multiplier 1.1 --sample-rate 0.00427 --steps 14062 \\\n"
      "      --sampler poisson --adjacency add_remove --target-delta 1e-5\n"
      "  sfumato account --target-epsilon 3 --target-delta 1e-5 --batch-size 256 --records 60000 "
      "\\\n"
      "      --epochs 20 --sampler poisson --adjacency add_remove\n"
      "Exit code 1: the claim is refuted; 2: it is not proven (docs/account.md).");
  show_first(*command, {"noise-multiplier", "sampler", "sample-rate", "steps", "adjacency",
                        "target-delta", "target-epsilon", "claim"});
  commands.push_back({command, [options] { return account(*options); }});
}

}  // namespace sfumato::apps
