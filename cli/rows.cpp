#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "command.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "sfumato/answers/rows/answer.hpp"
#include "sfumato/answers/rows/csv.hpp"
#include "sfumato/answers/rows/keys.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato::cli {
namespace {

struct RowsCommand {
  std::string file;  ///< a table, or a TOML file of keys
  KeyOptions keys;
  std::string out;
  Output output;
};

/// Where an interrupted run writes, "risks.partial.csv" for "risks.csv": what a whole run wrote stays. A
/// pipe or device has nothing to lose.
std::string partial_path(const std::string& out) {
  std::error_code ignored;
  const std::filesystem::path path(out);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return out;
  }
  const std::string name = path.stem().string() + ".partial" + path.extension().string();
  return (path.parent_path() / name).string();
}

void prepare_out(const RowsCommand& command, const RowsQuestion& question) {
  if (command.out.empty()) return;
  const auto* noise = std::get_if<std::string>(&question.noise);
  for (const std::string& input : {question.table, question.replacement, question.standardise,
                                   noise != nullptr ? *noise : std::string()}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(command.out, input, ignored)) {
      refuse_usage("out", fmt::format("{} is an input, it would be overwritten", input));
    }
  }
  prepare_output(command.out, command.output.force);
}

/// Writes all rows, and says where they are.
std::string write_out(const RowsCommand& command, const RowsAnswer& answer) {
  const std::string path = answer.stopped ? partial_path(command.out) : command.out;
  write_csv(path, answer);
  return answer.stopped ? fmt::format("The rows that were computed are in {}; {} is as it was.",
                                      path, command.out)
                        : fmt::format("All {} rows are in {}.", answer.risks.size(), path);
}

ExitCode rows(RowsCommand& command) {
  const bool toml = command.file.ends_with(".toml");
  if (!toml && !command.file.empty()) command.keys.texts("table") = {command.file};
  const TomlTable table = command.keys.table(toml ? command.file : "");
  RowsQuestion question;
  read_keys(question, table, rows_keys());
  prepare_out(command, question);
  prepare_report(command.output);
  TerminalObserver observer;
  const RowsAnswer found = located_keys(table, [&] { return answer(question, observer); });
  observer.finish();
  const std::string written = command.out.empty() ? "" : write_out(command, found);
  show(
      [&](Detail detail) {
        Document document = document_of(found, detail);
        if (!written.empty()) document.state(StatementKind::summary, written);
        return document;
      },
      command.output);
  return code_of(found.verdict, found.stopped);
}

}  // namespace

void add_rows(CLI::App& app, Commands& commands) {
  auto* command =
      app.add_subcommand("rows", "Ridge or logistic regression on a table: the risk of every row");
  const auto options = std::make_shared<RowsCommand>();
  command
      ->add_option("table", options->file,
                   "Table (CSV with a header row), or a TOML file of these options as keys")
      ->type_name("TABLE.csv|FILE.toml");
  options->keys.declare(*command, infos_of(rows_keys()), {"table"});
  command->add_option("--out", options->out, "Write the risk of all rows to this CSV")
      ->type_name("FILE.csv");
  add_output_options(*command, options->output);
  command->footer(
      "Example:\n"
      "  sfumato rows examples/rows/diabetes.csv --target progression --adjacency remove \\\n"
      "      --loss sum --ridge 1 --noise 1000 --standardise examples/rows/public.csv\n"
      "Noise is a covariance per unit of time, in the flow dX = -grad f dt + noise^(1/2) dW and\n"
      "in a step x <- x - rate grad f + N(0, rate noise) alike (docs/rows.md).");
  commands.push_back({command, [options] { return rows(*options); }});
}

}  // namespace sfumato::cli
