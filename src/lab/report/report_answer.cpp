#include "lab/report/report_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "lab/report/report_question.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/report/html.hpp"

namespace sfumato::lab {
namespace {

namespace fs = std::filesystem;

/// report.html -> report.json.
std::string twin_of(const std::string& page) {
  return fs::path(page).replace_extension(".json").string();
}

/// What is read for the report: inputs, the JSON of a directory of `reproduce`, and the file that asks.
std::vector<std::string> read_by(const ReportQuestion& question) {
  std::vector<std::string> files = question.inputs;
  for (const std::string& input : question.inputs) {
    files.push_back((fs::path(input) / "report.json").string());
  }
  files.push_back(question.file);
  return files;
}

/// The twin takes the place of nothing but what a report or a command wrote: nobody named it.
void require_document(const std::string& twin) {
  std::error_code ignored;
  if (!fs::is_regular_file(twin, ignored)) return;
  try {
    (void)read_report(read_file(twin), twin);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(
        fmt::format("its JSON goes to {}, which is no document of sfumato and would be overwritten",
                    twin),
        "Choose another name", Where::key("out"));
  }
}

void count_blocks(const Report& report, ReportAnswer& answer) {
  for (const Document& chapter : report.chapters) {
    for (const Block& block : chapter.blocks()) {
      if (std::holds_alternative<Table>(block)) ++answer.tables;
      if (std::holds_alternative<Figure>(block)) ++answer.figures;
    }
  }
}

}  // namespace

ReportAnswer answer(const ReportQuestion& question, Observer&) {
  check(question);
  const std::vector<std::string> read = read_by(question);
  const std::string twin = twin_of(question.out);
  const bool has_twin = std::none_of(read.begin(), read.end(), [&](const std::string& input) {
    std::error_code ignored;
    return fs::equivalent(input, twin, ignored);
  });
  std::vector<PlannedFile> outputs = {{"out", question.out}};
  if (has_twin) outputs.push_back({"out", twin});
  prepare_outputs(read, outputs, question.force);
  if (has_twin) require_document(twin);
  const WriteRules rules{question.force};

  Report whole;
  ReportAnswer answer;
  for (const std::string& path : question.inputs) {
    ReportInput input = read_input(path, question);
    answer.verdict = worst(answer.verdict, input.verdict);
    if (whole.title.empty()) whole.title = input.report.title;
    std::move(input.report.chapters.begin(), input.report.chapters.end(),
              std::back_inserter(whole.chapters));
    if (question.inputs.size() == 1) {
      whole.entries = std::move(input.report.entries);
      whole.written = std::move(input.report.written);
      whole.made = std::move(input.report.made);
    }
  }
  if (!question.title.empty()) whole.title = question.title;
  if (whole.written.empty()) whole.written = question.written;
  if (whole.made.empty()) whole.made = question.made;
  answer.title = whole.title;
  count_blocks(whole, answer);

  const std::string page = html_report(whole);
  write_file(question.out, page, rules);
  answer.page = {question.out, page.size()};
  if (has_twin) {
    const std::string json = report_json(whole);
    write_file(twin, json, rules);
    answer.json = {twin, json.size()};
  }
  return answer;
}

Document document_of(const ReportAnswer& answer, Detail) {
  Document document = new_document("report", "Report: " + answer.title);
  Table files("files", "Files", {{"file", "file"}, {"content", "content"}, {"size", "size", "kB"}});
  const auto add = [&](const WrittenFile& file, const char* content) {
    files.add_row({file.path, content, (file.bytes + 999) / 1000});
    document.add_result("bytes", file.bytes, {{"file", file.path}});
  };
  add(answer.page, "self-contained page");
  if (answer.json) add(*answer.json, "the same numbers as JSON");
  document.add(std::move(files));
  document.state(StatementKind::summary, say("{} tables and {} figures in {}", answer.tables,
                                             answer.figures, answer.page.path));
  return document;
}

}  // namespace sfumato::lab
