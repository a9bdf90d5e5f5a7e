#include "sfumato/account/budget_show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/account/state.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

const Keys<BudgetShowQuestion>& budget_show_keys() {
  using namespace keys;
  using Q = BudgetShowQuestion;
  static const Keys<Q> all = {required(file_key<Q>("budget", "file of a budget", &Q::budget))};
  return all;
}

BudgetShowAnswer answer(const BudgetShowQuestion& question, Observer&) {
  const BudgetFile file = BudgetFile::read(question.budget);
  const BudgetTerms terms = file.terms();
  const PrivacyBudget limit{Epsilon(terms.epsilon), Delta(terms.delta)};
  BudgetShowAnswer found{question, {question.budget, limit}, terms.adjacency};
  PrivateReleases all{};
  for (const BudgetEntry& entry : file.entries()) {
    const Accountant own =
        load_account(entry.account, fmt::format("{}, entry {}", question.budget, entry.number))
            .accountant;
    all.relation = own.releases().relation;
    all.list.insert(all.list.end(), own.releases().list.begin(), own.releases().list.end());
    found.runs.push_back({entry, own.epsilon(limit.delta).upper.value});
  }
  found.state.runs = found.runs.size();
  const double spent = all.list.empty() ? 0.0 : Accountant(all).epsilon(limit.delta).upper.value;
  const bool within = all.list.empty() || meets(all, limit);
  found.state.spent = within ? std::min(spent, limit.epsilon.nats()) : spent;
  if (!within) found.verdict = Verdict::violated;
  return found;
}

Document document_of(const BudgetShowAnswer& answer, Detail detail) {
  const BudgetState& state = answer.state;
  const double delta = state.limit.delta.probability();
  Document document = new_document("budget show", "Privacy budget");
  document.state(StatementKind::info, budget_text(state));
  Table table("runs", "Runs that were booked",
              {{"run", "run"},
               {"time", "time (UTC)"},
               {"command", "command"},
               {"state", "state"},
               {"epsilon", fmt::format("eps({}) alone", format_input(delta))},
               {"model", "model (SHA-256)"}},
              3);
  for (const BudgetRun& run : answer.runs) {
    const std::string& model = run.entry.model;
    table.add_row({run.entry.number, run.entry.time, run.entry.command, run.entry.state,
                   Claimed<double>{run.epsilon, Claim::upper_bound},
                   model.empty() ? Cell(Empty{})
                                 : Cell(detail == Detail::full ? model : model.substr(0, 12))});
  }
  document.add(std::move(table));
  document.add_result("epsilon_spent", Claimed<double>{state.spent, Claim::upper_bound},
                      {{"delta", delta}});
  document.add_result("epsilon_limit", state.limit.epsilon.nats(), {{"delta", delta}});
  document.add_result("runs", static_cast<std::uint64_t>(state.runs));
  document.add_provenance("adjacency", answer.adjacency);
  document.state(
      StatementKind::info,
      "Runs are composed: together they cost less than the sum. A run that is reserved and "
      "not released was killed or is still going; it counts as spent.");
  if (answer.verdict == Verdict::violated) {
    document.state(StatementKind::verdict,
                   say("{}: more was recorded than the limit allows. No further run is booked.",
                       VerdictWord{"OVERSPENT"}),
                   Outcome::bad);
  }
  return document;
}

}  // namespace sfumato
