#include "lab/report/report_question.hpp"

#include "lab/audit/checked_options.hpp"
#include "lab/audit/ledger_keys.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/keys/makers.hpp"

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

}  // namespace sfumato::lab
