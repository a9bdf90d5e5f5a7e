#include <fmt/format.h>

#include "sfumato/data/table_file.hpp"
#include "sfumato/report/histogram.hpp"
#include "sfumato/rows/checks_table.hpp"
#include "sfumato/rows/noise_tables.hpp"
#include "sfumato/rows/ranking.hpp"
#include "sfumato/rows/rows_answer.hpp"
#include "sfumato/rows/rows_brief.hpp"
#include "sfumato/rows/rows_tables.hpp"
#include "sfumato/rows/rows_words.hpp"
#include "sfumato/rows/table_words.hpp"

namespace sfumato {
namespace {

void add_histogram(Document& document, const RowsAnswer& answer) {
  std::vector<double> advantages;
  for (const RowRisk* risk : computed(answer.risks)) advantages.push_back(risk->advantage.value);
  Figure figure =
      histogram("advantage", "Membership advantage over the rows" + at_noise(answer),
                {answer.question.model == RowsModel::ridge ? "advantage of the best attack"
                                                           : "bound on the advantage of any attack",
                 "", Scale::linear},
                advantages);
  figure.set_caption("How many rows have which advantage; 0 is a coin toss, 1 is certainty.");
  document.add(std::move(figure));
}

void add_everything(Document& document, const RowsAnswer& answer) {
  document.set_abstract(abstract_of(answer));
  document.state(StatementKind::info, words_of_model(answer));
  add_columns_read(document, answer);
  document.state(StatementKind::info,
                 answer.sweep.empty()
                     ? words_of_release(answer.release)
                     : fmt::format("The weights are {}. Single rows are shown{}, the largest.",
                                   short_words_of_release(answer), at_noise(answer)));
  document.state(StatementKind::info, words_of_neighbour(answer.question));
  add_search(document, answer);
  add_gate(document, answer);
  if (!answer.sweep.empty()) {
    add_sweep(document, answer);
    add_sweep_figure(document, answer);
  }
  document.add(riskiest_rows(answer));
  if (answer.sweep.empty()) add_cost(document, answer);
  if (!computed(answer.risks).empty()) {
    document.add(quantiles(answer));
    add_histogram(document, answer);
    document.add(ranked(answer));
  }
  for (const std::string& note : answer.notes) document.state(StatementKind::info, note);
  add_checks(document, answer);
  add_check_verdict(document, answer);
  add_warnings(document, answer);
  add_table_warnings(document, answer);
  add_caveats(document, answer);
}

}  // namespace

Document document_of(const RowsAnswer& answer, Detail detail) {
  Document document =
      new_document("rows", "Risk of every row of " + table_source(answer.question.table));
  if (detail == Detail::brief) {
    add_brief(document, answer);
  } else {
    add_everything(document, answer);
  }
  add_results(document, answer);
  add_cost_results(document, answer);
  return document;
}

}  // namespace sfumato
