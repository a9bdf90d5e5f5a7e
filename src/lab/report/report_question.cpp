#include "lab/report/report_question.hpp"

#include <filesystem>
#include <fstream>

#include "lab/audit/audit_keys.hpp"
#include "lab/audit/ledger_document.hpp"
#include "sfumato/account/named_model.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/lab/audit/ledger_audit.hpp"

namespace sfumato::lab {

const Keys<ReportQuestion>& report_keys() {
  using namespace keys;
  using Q = ReportQuestion;
  static const Keys<Q> all = [] {
    Keys<Q> list = {
        required(files_key<Q>(
            "inputs", "ledgers, JSON output of commands, directories of `reproduce`", &Q::inputs)),
        required(output_key<Q>(
            "out", "HTML page to write; its JSON goes beside it, with the suffix .json", &Q::out)),
        text_key<Q>("title", "text", "title of the page (default: that of the first input)",
                    &Q::title)};
    for (Key<Q>& key : ledger_audit_keys<Q>()) list.push_back(std::move(key));
    return list;
  }();
  return all;
}

void check(const ReportQuestion& question) {
  if (question.inputs.empty()) {
    throw InvalidArgument("names no ledger, JSON output or directory of `reproduce`", "",
                          Where::key("inputs"));
  }
  if (question.out.empty()) {
    throw InvalidArgument("names no file, such as report.html", "", Where::key("out"));
  }
  if (suffix_of(question.out) == ".json") {
    throw InvalidArgument("is a page, but ends in .json. Use a name that ends in .html", "",
                          Where::key("out"));
  }
  check(static_cast<const LedgerAuditOptions&>(question));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic = "SQLite format 3";
constexpr std::size_t kStart = 4096;  // bytes that tell what a file is

/// Of JSON: a parsed document takes about ten times as much.
constexpr std::uint64_t kLargestReport = std::uint64_t{256} << 20;

ReportInput audited(const std::string& path, const LedgerAuditOptions& options) {
  const LedgerAudit found = audit(Ledger::read(path), options);
  const Document document = document_of(found, Detail::full);
  return {{document.title(), {document}}, found.verdict, path};
}

/// The report that a reproduction ends with.
ReportInput reproduced(const std::string& directory) {
  const std::string whole = (fs::path(directory) / "report.json").string();
  if (!fs::exists(whole)) {
    throw InvalidArgument("the directory has no report.json",
                          "Pass a directory that sfumato reproduce has finished",
                          Where::in(directory));
  }
  return {read_report(read_file(whole, kLargestReport), whole), Verdict::none, whole};
}

std::string start_of(const std::string& path) {
  std::string start(kStart, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return start;
}

/// A document is an object; blanks and a byte-order mark may come before it.
bool may_be_json(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || start[first] == '{';
}

}  // namespace

ReportInput read_input(const std::string& path, const LedgerAuditOptions& options) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return reproduced(path);
  if (fs::is_regular_file(path, ignored)) {  // a pipe can be read only once
    const std::string start = start_of(path);
    if (start.starts_with(kSqliteMagic)) return audited(path, options);
    if (!start.empty() && !may_be_json(start)) {
      throw InvalidArgument("is neither JSON nor a ledger",
                            "Pass a ledger, the JSON output of a command, or a directory of "
                            "sfumato reproduce",
                            Where::in(path));
    }
  }
  Report report = read_report(read_file(path, kLargestReport), path);
  for (Document& chapter : report.chapters) check_named_model(chapter, path);
  return {std::move(report), Verdict::none, path};
}

}  // namespace sfumato::lab
