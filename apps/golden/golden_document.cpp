#include "golden/golden_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sfumato::apps {
namespace {

constexpr std::size_t kBriefFailures = 10;

std::vector<Cell> row_of(const VerifyFailure& failure) {
  if (!failure.refusal.empty()) return {failure.id, "(all)", "a value", failure.refusal, ""};
  return {failure.id, failure.output, fmt::format("{}", failure.expected),
          std::isnan(failure.got) ? "nothing" : fmt::format("{}", failure.got),
          fmt::format("{:.3g}", failure.tolerance)};
}

}  // namespace

Document document_of(const VerifyAnswer& answer, Detail detail) {
  Document document = new_document("verify", "Reference values of " + answer.question.file);
  const std::size_t shown = std::min(
      answer.failures.size(), detail == Detail::full ? answer.failures.size() : kBriefFailures);
  if (shown > 0) {
    Table table("failures", "Cases outside their tolerance",
                {{"id", "case"},
                 {"output", "output"},
                 {"expected", "expected"},
                 {"got", "got"},
                 {"tolerance", "tolerance"}});
    for (std::size_t i = 0; i < shown; ++i) table.add_row(row_of(answer.failures[i]));
    document.add(std::move(table));
  }
  if (shown < answer.failures.size()) {
    document.state(StatementKind::info,
                   say("{} more with {}.", answer.failures.size() - shown, More::all));
  }
  if (!answer.unknown.empty()) {
    document.state(StatementKind::info, fmt::format("functions unknown to this build: {}",
                                                    fmt::join(answer.unknown, ", ")));
  }
  document.add_result("passed", answer.passed);
  document.add_result("failed", answer.failed);
  document.add_result("skipped", answer.skipped);
  document.add_verdict({"", "reference values", answer.verdict, {}, {}, {}});
  document.state(StatementKind::summary, fmt::format("{} passed, {} failed, {} skipped",
                                                     answer.passed, answer.failed, answer.skipped));
  return document;
}

}  // namespace sfumato::apps
