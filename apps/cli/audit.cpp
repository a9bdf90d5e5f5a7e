#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "lab/audit/audit_keys.hpp"
#include "progress.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

struct AuditCommand {
  std::string input;  ///< a ledger, or a TOML file with the keys
  KeyOptions keys;
  Output output;
};

ExitCode audit(AuditCommand& command) {
  const bool is_file = command.input.ends_with(".toml");
  if (!is_file) command.keys.give("ledger", {command.input});
  const TomlTable table = command.keys.table(is_file ? command.input : "");
  AuditQuestion question;
  read_keys(question, table, audit_keys());
  prepare_files(command.keys.inputs(table, is_file ? command.input : ""), {}, command.output);
  TerminalObserver observer;
  const AuditAnswer found = located_keys(table, [&] { return answer(question, observer); });
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, command.output);
  return code_of(found.verdict);
}

}  // namespace

void add_audit(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "audit", "Bound epsilon from below by the scores of trained models, and check a claim");
  const auto options = std::make_shared<AuditCommand>();
  command->add_option("LEDGER", options->input,
                      "Ledger written by `study run`, or a TOML file with the options as keys");
  options->keys.declare(*command, infos_of(audit_keys()), {"ledger"});
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato audit table2_s1.ledger --score loss --epsilons 0.1\n"
      "  sfumato audit --members examples/audit/in.csv \\\n"
      "      --nonmembers examples/audit/out.csv --unit models --claim eps=1.0,delta=1e-5\n"
      "  sfumato audit --plan eps=3,delta=1e-5 --runs 100\n"
      "Exit code 1: the claim is violated. 2: undecided, because there are too few runs or\n"
      "the scores point the wrong way (docs/audit.md).");
  show_first(*command,
             {"claim", "members", "nonmembers", "unit", "policy", "score", "plan", "delta"});
  commands.push_back({command, [options] { return audit(*options); }});
}

}  // namespace sfumato::apps
