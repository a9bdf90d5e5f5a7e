#include "questions.hpp"

#include <cmath>
#include <ctime>
#include <memory>
#include <utility>

#include "golden/golden_document.hpp"
#include "lab/audit/audit_keys.hpp"
#include "lab/report/report_answer.hpp"
#include "reproduce/paper_golden.hpp"
#include "sfumato/account/account_answer.hpp"
#include "sfumato/account/account_keys.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/bound/bound_keys.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_keys.hpp"
#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/fit/fit_keys.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"
#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"
#include "sfumato/rows/rows_answer.hpp"
#include "sfumato/rows/rows_fields.hpp"
#include "sfumato/rows/rows_keys.hpp"

namespace sfumato::python {

using namespace lab;
using namespace apps;
namespace {

/// The document of an answer, which lives as long as somebody may ask for it.
template <class Answer>
Found found_from(Answer answer) {
  auto kept = std::make_shared<const Answer>(std::move(answer));
  Found found;
  found.document = [kept](Detail detail) { return document_of(*kept, detail); };
  if constexpr (requires { kept->verdict; }) found.verdict = kept->verdict;
  if constexpr (requires { kept->stopped; }) found.stopped = kept->stopped;
  return found;
}

/// A question whose keys fill one struct.
template <class Question>
Question read(const TomlTable& table, const Keys<Question>& keys) {
  Question question;
  read_keys(question, table, keys);
  return question;
}

Found account(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, account_infos(), [&] {
    if (asked.source.ends_with(".toml")) require_whole_account(asked.source);
    AccountAnswer made = answer(read_account_question(asked.table), observer);
    // Several settings that were compared are no releases of one run.
    const std::string saved =
        made.settings.size() == 1 ? save({accountant_of(made)}, made.delta) : "";
    std::optional<double> noise;
    if (made.calibration && made.calibration->what == Calibration::What::noise) {
      noise = made.calibration->value;
    }
    Found found = found_from(std::move(made));
    found.text = saved;
    found.noise_multiplier = noise;
    return found;
  });
}

Found audit(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(audit_keys()), [&] {
    return found_from(answer(read(asked.table, audit_keys()), observer));
  });
}

Found bound(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, bound_keys(), [&] {
    return found_from(answer(read_bound_question(asked.table, asked.source), observer));
  });
}

Found quadratic(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, quadratic_keys(), [&] {
    return found_from(answer(read_quadratic_question(asked.table, asked.source), observer));
  });
}

Found design(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(design_keys()), [&] {
    DesignAnswer made = answer(read(asked.table, design_keys()), observer);
    std::optional<CovarianceFile> file = covariance_of(made);
    Found found = found_from(std::move(made));
    if (file) found.covariance = std::move(file->covariance);
    return found;
  });
}

Found fit(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(fit_keys()), [&] {
    FitQuestion question;
    read_keys(question, asked.table, fit_keys());
    question.in_memory = asked.in_memory;
    FitAnswer made = answer(question, observer);
    made.question.in_memory.reset();
    const std::string model = made.stopped ? "" : model_json(made);
    const std::string statement = made.guarantee ? statement_of(made) : "";
    Found found = found_from(std::move(made));
    found.text = model;
    found.statement = statement;
    return found;
  });
}

/// Every row, in the order of the table: what the command writes with --out.
std::vector<FoundColumn> columns_of(const RowsAnswer& answer) {
  std::vector<std::int64_t> rows;
  std::vector<std::string> status;
  for (const RowRisk& risk : answer.risks) {
    rows.push_back(risk.row);
    status.emplace_back(name(risk.status));
  }
  std::vector<FoundColumn> columns = {{"row", std::move(rows)}};
  if (!answer.ids.empty()) columns.push_back({"id", answer.ids});
  columns.push_back({"status", std::move(status)});
  const auto add = [&](const std::string& key, const auto& number) {
    std::vector<double> values;
    values.reserve(answer.risks.size());
    for (const RowRisk& risk : answer.risks) {
      values.push_back(risk.status == RowStatus::ok ? number(risk).value : std::nan(""));
    }
    columns.push_back({key, std::move(values)});
  };
  for (const auto& trait : trait_fields(answer)) add(trait.key, trait.of);
  for (const auto& risk : shown(risk_fields(answer), Detail::full)) add(risk.key, risk.of);
  return columns;
}

Found rows(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(rows_keys()), [&] {
    RowsQuestion question;
    read_rows_question(question, asked.table);
    question.in_memory = asked.in_memory;
    RowsAnswer made = answer(question, observer);
    made.question.in_memory.reset();
    std::vector<FoundColumn> columns = columns_of(made);
    Found found = found_from(std::move(made));
    found.columns = std::move(columns);
    return found;
  });
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return {text, size};
}

Found report(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(report_keys()), [&] {
    ReportQuestion question = read(asked.table, report_keys());
    question.force = asked.force;
    question.file = asked.source;
    question.written = now();
    return found_from(answer(question, observer));
  });
}

Found verify(const Asked& asked, Observer& observer) {
  return located_keys(asked.table, infos_of(verify_keys()), [&] {
    return found_from(answer(read(asked.table, verify_keys()), golden_functions(), observer));
  });
}

}  // namespace

const std::map<std::string, KeyedQuestion>& keyed_questions() {
  static const std::map<std::string, KeyedQuestion> all = {
      {"account", {account_infos, account}},
      {"audit", {[] { return infos_of(audit_keys()); }, audit}},
      {"bound", {[] { return bound_keys(); }, bound}},
      {"design", {[] { return infos_of(design_keys()); }, design}},
      {"fit", {[] { return infos_of(fit_keys()); }, fit}},
      {"quadratic", {[] { return quadratic_keys(); }, quadratic}},
      {"report", {[] { return infos_of(report_keys()); }, report}},
      {"rows", {[] { return infos_of(rows_keys()); }, rows}},
      {"verify", {[] { return infos_of(verify_keys()); }, verify}}};
  return all;
}

const KeyedQuestion& keyed_question(const std::string& command) {
  const auto at = keyed_questions().find(command);
  if (at != keyed_questions().end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [known, question] : keyed_questions()) names.push_back(known);
  throw InvalidArgument("there is no question \"" + command + "\"",
                        suggestion(command, names, "questions"), Where::here("keys"));
}

}  // namespace sfumato::python
