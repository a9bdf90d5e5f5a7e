#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "lab/report/report_answer.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "provenance.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

struct ReportOptions {
  KeyOptions keys;
  std::vector<std::string> inputs;
  bool force = false;
  bool json = false;
};

ExitCode report(ReportOptions& options) {
  const bool is_file = options.inputs.size() == 1 && options.inputs.front().ends_with(".toml");
  if (!is_file) options.keys.give("inputs", options.inputs);
  const TomlTable table = options.keys.table(is_file ? options.inputs.front() : "");
  ReportQuestion question;
  read_keys(question, table, report_keys());
  question.force = options.force;
  if (is_file) question.file = options.inputs.front();
  question.written = time_now();
  question.made = run_facts();
  TerminalObserver observer;
  const ReportAnswer made = located_keys(table, [&] { return answer(question, observer); });
  observer.finish();
  print(document_of(made, Detail::full), options.json);
  return code_of(made.verdict);
}

}  // namespace

void add_report(CLI::App& app, Commands& commands) {
  auto* command =
      app.add_subcommand("report", "Turn ledgers and results into one self-contained HTML page");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("INPUT", options->inputs,
                      "Ledgers, JSON output of commands, directories of `reproduce`; or one TOML "
                      "file with the options as keys");
  options->keys.declare(*command, infos_of(report_keys()), {"inputs"});
  add_output_flags(*command, options->force);
  add_json_flag(*command, options->json);
  command->footer(
      "Examples:\n"
      "  sfumato report table2_s1.ledger --out audit.html\n"
      "  sfumato quadratic problem.toml --json > risk.json\n"
      "  sfumato report risk.json --out risk.html");
  show_first(*command, {"title", "claim", "delta", "policy", "score"});
  commands.push_back({command, [options] { return report(*options); }});
}

}  // namespace sfumato::apps
