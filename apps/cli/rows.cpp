#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "sfumato/rows/rows_answer.hpp"
#include "sfumato/rows/rows_fields.hpp"
#include "sfumato/rows/rows_keys.hpp"

namespace sfumato::apps {
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
  if (out.empty()) return out;
  std::error_code ignored;
  const std::filesystem::path path(out);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return out;
  }
  const std::string name = path.stem().string() + ".partial" + path.extension().string();
  return (path.parent_path() / name).string();
}

void prepare_out(const RowsCommand& command, const RowsQuestion& question,
                 const std::vector<std::string>& inputs) {
  if (!command.out.empty() && !question.noises.empty()) {
    refuse_usage("out", "holds the risks at one noise, and several are given");
  }
  std::vector<PlannedFile> outputs = {{"out", command.out}};
  if (const std::string partial = partial_path(command.out); partial != command.out) {
    outputs.push_back({"out", partial});
  }
  prepare_files(inputs, std::move(outputs), command.output);
}

/// Writes all rows, and says where they are.
std::string write_out(const RowsCommand& command, const RowsAnswer& answer) {
  const std::string path = answer.stopped ? partial_path(command.out) : command.out;
  write_csv(path, answer, {command.output.force});
  return answer.stopped
             ? fmt::format("Rows computed so far: {}. {} is unchanged.", path, command.out)
             : fmt::format("Risks of all {} rows: {}", answer.risks.size(), path);
}

ExitCode rows(RowsCommand& command) {
  const bool toml = command.file.ends_with(".toml");
  if (!toml) command.keys.give("table", {command.file});
  if (command.keys.has("goal")) command.keys.waive("noise");  // it is to be found
  const TomlTable table = command.keys.table(toml ? command.file : "");
  RowsQuestion question;
  read_rows_question(question, table);
  prepare_out(command, question, command.keys.inputs(table, toml ? command.file : ""));
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
  auto* command = app.add_subcommand(
      "rows", "Measure the risk of every row of a table, for ridge or logistic regression");
  const auto options = std::make_shared<RowsCommand>();
  command->add_option("TABLE.csv", options->file,
                      "Table with a header row, or a TOML file with the options as keys");
  options->keys.declare(*command, infos_of(rows_keys()), {"table"});
  command->add_option("--out", options->out, "Write the risk of every row to this file")
      ->type_name("FILE.csv")
      ->group(kOutputGroup);
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  sfumato rows examples/rows/diabetes.csv --target progression --adjacency remove \\\n"
      "      --loss sum --ridge 100 --noise 0.001 --standardise examples/rows/public.csv\n"
      "  ... --noise 0.0001,0.001,0.01   compares noises: risk and accuracy of each\n"
      "  ... --goal advantage=0.1         finds the noise\n"
      "  ... --max-advantage 0.1         exits with 1 and lists the rows that are above\n"
      "  sfumato rows adult.csv.gz --target income --positive '>50K' --model logistic \\\n"
      "      --impute mode --standardise self --adjacency remove --loss sum --ridge 10 \\\n"
      "      --noise 0.1\n"
      "What is published is the minimiser plus N(0, noise). With --training the noise is a "
      "covariance per unit of time, in the flow and in the steps (docs/rows.md).");
  show_first(*command, {"goal", "model", "ridge", "standardise"});
  commands.push_back({command, [options] { return rows(*options); }});
}

}  // namespace sfumato::apps
