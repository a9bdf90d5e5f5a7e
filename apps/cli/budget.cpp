#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "sfumato/account/budget_show.hpp"

namespace sfumato::apps {
namespace {

struct BudgetOptions {
  std::string file;
  KeyOptions keys;
  Output output;
};

ExitCode show_budget(BudgetOptions& options) {
  options.keys.give("budget", {options.file});
  const TomlTable table = options.keys.table();
  BudgetShowQuestion question;
  read_keys(question, table, budget_show_keys());
  prepare_files({question.budget}, {}, options.output);
  TerminalObserver observer;
  const BudgetShowAnswer found = answer(question, observer);
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(found.verdict);
}

}  // namespace

void add_budget(CLI::App& app, Commands& commands) {
  auto* budget = app.add_subcommand("budget", "Show what was spent on the records of a data set");
  budget->require_subcommand(1);
  auto* command = budget->add_subcommand("show", "List the runs of a budget and what is spent");
  const auto options = std::make_shared<BudgetOptions>();
  command->add_option("BUDGET", options->file,
                      "File that `fit`, `train --private` and `account` book runs in (--budget)");
  options->keys.declare(*command, infos_of(budget_show_keys()), {"budget"});
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato fit table.csv --model ridge --bounds bounds.csv --target-epsilon 1 \\\n"
      "      --budget table.budget --limit eps=3,delta=1e-6 --out model.json\n"
      "  sfumato budget show table.budget\n"
      "Exit code 1: more was recorded than the limit allows.");
  commands.push_back({command, [options] { return show_budget(*options); }});
}

}  // namespace sfumato::apps
