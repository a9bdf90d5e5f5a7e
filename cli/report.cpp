#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "command.hpp"
#include "output_files.hpp"
#include "report/input.hpp"
#include "sfumato/answers/audit/input.hpp"
#include "sfumato/answers/audit/ledger.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/report/html.hpp"

namespace sfumato::cli {
namespace {

struct ReportCommand {
  std::vector<std::string> inputs;
  std::string out;
  std::string title;
  AuditCommand audit;  ///< how ledgers are audited
  bool force = false;
  bool json = false;
};

/// Where the JSON of a page goes: report.html -> report.json.
std::string twin_of(const std::string& page) {
  return std::filesystem::path(page).replace_extension(".json").string();
}

bool is_input(const ReportCommand& command, const std::string& path) {
  std::error_code ignored;
  return std::any_of(command.inputs.begin(), command.inputs.end(), [&](const std::string& input) {
    return std::filesystem::equivalent(input, path, ignored);
  });
}

/// Writing must not replace what was read, unless with the same bytes: a report made again.
void refuse_to_replace(const ReportCommand& command, const std::string& path,
                       const std::string& bytes) {
  if (is_input(command, path) && read_file(path) != bytes) {
    throw InvalidArgument(fmt::format("{} would be replaced by the report", path),
                          "Choose another name for --out", Where::in("--out"));
  }
}

struct Counts {
  std::size_t tables = 0, figures = 0;
};

Counts count_blocks(const Report& report) {
  Counts counts;
  for (const Document& chapter : report.chapters) {
    for (const Block& block : chapter.blocks()) {
      if (std::holds_alternative<Table>(block)) ++counts.tables;
      if (std::holds_alternative<Figure>(block)) ++counts.figures;
    }
  }
  return counts;
}

ExitCode report(const ReportCommand& command) {
  Verdict verdict = Verdict::none;
  const std::string twin = twin_of(command.out);
  if (twin == command.out) {
    refuse_usage("out", "ends in .json, which is the name of the JSON beside it");
  }
  for (const std::string& path : {command.out, twin}) {
    if (!is_input(command, path)) prepare_output(path, command.force);
  }
  Report whole;
  for (const std::string& input : command.inputs) {
    Report part = read_input(input, command.audit, verdict);
    if (whole.title.empty()) whole.title = part.title;
    std::move(part.chapters.begin(), part.chapters.end(), std::back_inserter(whole.chapters));
    if (command.inputs.size() == 1) {
      whole.entries = std::move(part.entries);
      whole.written = std::move(part.written);
    }
  }
  if (!command.title.empty()) whole.title = command.title;
  if (whole.written.empty()) whole.written = time_now();

  const std::string page = html_report(whole);
  const std::string json = report_json(whole);
  refuse_to_replace(command, command.out, page);
  refuse_to_replace(command, twin, json);
  write_file(command.out, page);
  write_file(twin, json);

  const Counts counts = count_blocks(whole);
  Document document = new_document("report", "Report: " + whole.title);
  Table files("files", "Files", {{"file", "file"}, {"content", "content"}, {"size", "size", "kB"}});
  const auto kilobytes = [](std::size_t bytes) {
    return static_cast<std::int64_t>((bytes + 999) / 1000);
  };
  files.add_row({command.out, "the page, complete in itself", kilobytes(page.size())});
  files.add_row(
      {twin, "the same numbers for programs", kilobytes(std::filesystem::file_size(twin))});
  document.add(std::move(files));
  document.state(StatementKind::summary, fmt::format("{} tables and {} figures in {}",
                                                     counts.tables, counts.figures, command.out));
  print(document, command.json);
  return code_of(verdict);
}

}  // namespace

void add_report(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "report", "Make one HTML file, complete in itself, from results; and its JSON");
  const auto options = std::make_shared<ReportCommand>();
  options->audit.deltas = {1e-5};
  options->audit.epsilons = {1.0};
  command
      ->add_option("inputs", options->inputs,
                   "Ledgers, JSON of other commands, directories of `reproduce`")
      ->required();
  command->add_option("--out", options->out, "The page; the JSON has its name with .json")
      ->required()
      ->type_name("report.html");
  add_output_flags(*command, options->force);
  command->add_option("--title", options->title, "Of the report (default: of the first input)");
  command->add_option("--score", options->audit.score,
                      "Of a ledger: margin (default), loss, gradient_norm or projection");
  command
      ->add_option("--claim", options->audit.claim,
                   "Of a ledger: check eps=..,delta=..: exit code 1 if violated, 2 if open")
      ->type_name("eps=E,delta=D");
  command
      ->add_option("--look", options->audit.look,
                   "Of a ledger that cannot be written: which look this is, from 1")
      ->check(CLI::PositiveNumber);
  add_json_flag(*command, options->json);
  command->footer(
      "Examples:\n"
      "  sfumato report table2_s1.ledger --out audit.html\n"
      "  sfumato quadratic problem.toml --json > risk.json && sfumato report risk.json --out "
      "r.html");
  commands.push_back({command, [options] { return report(*options); }});
}

}  // namespace sfumato::cli
