#include "lab/report/report_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "lab/report/report_input.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/report/html.hpp"

namespace sfumato::lab {
namespace {

namespace fs = std::filesystem;

/// report.html -> report.json.
std::string twin_of(const std::string& page) {
  return fs::path(page).replace_extension(".json").string();
}

/// Whether `path` is read for the report: an input, or the JSON of a directory of `reproduce`.
bool is_read(const ReportQuestion& question, const std::string& path) {
  std::error_code ignored;
  return std::any_of(question.inputs.begin(), question.inputs.end(), [&](const std::string& input) {
    return fs::equivalent(input, path, ignored) ||
           fs::equivalent(fs::path(input) / "report.json", path, ignored);
  });
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
  if (is_read(question, question.out)) {
    throw InvalidArgument(fmt::format("{} is an input and would be overwritten", question.out),
                          "Choose another name", Where::key("out"));
  }
  const std::string twin = twin_of(question.out);
  const bool has_twin = !is_read(question, twin);
  prepare_output(question.out, question.force);
  if (has_twin) prepare_output(twin, question.force);

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
  write_file(question.out, page);
  answer.page = {question.out, page.size()};
  if (has_twin) {
    const std::string json = report_json(whole);
    write_file(twin, json);
    answer.json = {twin, json.size()};
  }
  return answer;
}

}  // namespace sfumato::lab
