#include "lab/report/report_document.hpp"

#include <fmt/format.h>

namespace sfumato::lab {

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
  document.state(StatementKind::summary,
                 fmt::format("{} tables and {} figures in {}", answer.tables, answer.figures,
                             answer.page.path));
  return document;
}

}  // namespace sfumato::lab
