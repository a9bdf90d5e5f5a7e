#include "rows/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sfumato/data/csv_writer.hpp"
#include "sfumato/report/histogram.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::cli {
namespace {

/// One number of a row, with its name for people and programs.
struct View {
  std::string key;
  std::string title;
  NumberStyle style;
  std::function<RiskNumber(const RowRisk&)> of;
};

RiskNumber larger(const RiskNumber& a, const RiskNumber& b) {
  const bool bounded = a.claim == Claim::upper_bound || b.claim == Claim::upper_bound;
  return {std::max(a.value, b.value), bounded ? Claim::upper_bound : Claim::exact};
}

/// The directed views, in the order of the columns.
std::vector<View> views(const RowsQuestion& question) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<View> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }},
      {"kl_forward", "KL(D||D')", general, [](const RowRisk& r) { return r.forward.kl; }},
      {"kl_reverse", "KL(D'||D)", general, [](const RowRisk& r) { return r.reverse.kl; }}};
  for (std::size_t k = 0; k < question.risk.epsilons.size(); ++k) {
    const std::string eps = format_input(question.risk.epsilons[k].nats());
    const std::string digits = fmt::format("{}", question.risk.epsilons[k].nats());
    list.push_back({"delta_forward_at_" + digits, fmt::format("delta({}) D||D'", eps), probability,
                    [k](const RowRisk& r) { return r.forward.delta[k]; }});
    list.push_back({"delta_reverse_at_" + digits, fmt::format("delta({}) D'||D", eps), probability,
                    [k](const RowRisk& r) { return r.reverse.delta[k]; }});
  }
  const std::string delta = format_input(question.risk.delta.probability());
  list.push_back({"epsilon_forward", fmt::format("eps({}) D||D'", delta), general,
                  [](const RowRisk& r) { return r.forward.epsilon; }});
  list.push_back({"epsilon_reverse", fmt::format("eps({}) D'||D", delta), general,
                  [](const RowRisk& r) { return r.reverse.epsilon; }});
  return list;
}

/// The views of which quantiles are shown: the worse direction of each.
std::vector<View> worst_views(const RowsQuestion& question) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<View> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }},
      {"kl", "KL", general, [](const RowRisk& r) { return larger(r.forward.kl, r.reverse.kl); }}};
  for (std::size_t k = 0; k < question.risk.epsilons.size(); ++k) {
    const std::string eps = format_input(question.risk.epsilons[k].nats());
    list.push_back({fmt::format("delta_at_{}", question.risk.epsilons[k].nats()),
                    fmt::format("delta({})", eps), probability, [k](const RowRisk& r) {
                      return larger(r.forward.delta[k], r.reverse.delta[k]);
                    }});
  }
  list.push_back({"epsilon",
                  fmt::format("eps({})", format_input(question.risk.delta.probability())), general,
                  [](const RowRisk& r) { return larger(r.forward.epsilon, r.reverse.epsilon); }});
  return list;
}

Claimed<double> claimed(const RiskNumber& number) {
  return {number.value, number.claim, "two normal laws compared exactly"};
}

std::vector<const RowRisk*> computed(const std::vector<RowRisk>& risks) {
  std::vector<const RowRisk*> list;
  for (const RowRisk& risk : risks) {
    if (risk.status == RowStatus::ok) list.push_back(&risk);
  }
  return list;
}

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Rows without which there is no model come first: their presence is plain.
Table riskiest_rows(const RowsQuestion& question, const RegressionInput& input,
                    std::vector<const RowRisk*> rows, const std::vector<RowRisk>& all) {
  const std::vector<View> list = views(question);
  std::vector<Column> columns{{"row", "row"}, {"line", "line"}, {"leverage", "leverage"}};
  for (const View& view : list) columns.push_back({view.key, view.title, "", view.style});
  std::vector<const RowRisk*> plain;
  for (const RowRisk& risk : all) {
    if (risk.status == RowStatus::no_model) plain.push_back(&risk);
  }
  if (plain.size() > question.top) plain.resize(question.top);
  const std::size_t count = std::min(question.top - plain.size(), rows.size());
  // By advantage; rows that are certain to be found are told apart by their KL.
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                    [](const RowRisk* a, const RowRisk* b) {
                      const auto rank = [](const RowRisk* r) {
                        return std::tuple(-r->advantage.value,
                                          -std::max(r->forward.kl.value, r->reverse.kl.value),
                                          r->row);
                      };
                      return rank(a) < rank(b);
                    });
  Table table(
      "riskiest_rows",
      fmt::format("The {} riskiest of {}", count + plain.size(), count_of(all.size(), "row")),
      std::move(columns), 3);
  for (const RowRisk* risk : plain) {
    std::vector<Cell> cells{risk->row + 1, input.lines[static_cast<std::size_t>(risk->row)],
                            Claimed<double>{risk->leverage, Claim::exact, "hat-matrix diagonal"}};
    for (std::size_t k = 0; k < list.size(); ++k) {
      cells.emplace_back(Empty{"without this row there is no model: its presence is plain"});
    }
    table.add_row(std::move(cells));
  }
  for (std::size_t k = 0; k < count; ++k) {
    const RowRisk& risk = *rows[k];
    std::vector<Cell> cells{risk.row + 1, input.lines[static_cast<std::size_t>(risk.row)],
                            Claimed<double>{risk.leverage, Claim::exact, "hat-matrix diagonal"}};
    for (const View& view : list) cells.emplace_back(claimed(view.of(risk)));
    table.add_row(std::move(cells));
  }
  return table;
}

Table quantiles(const RowsQuestion& question, const std::vector<const RowRisk*>& rows) {
  const std::vector<View> list = worst_views(question);
  std::vector<Column> columns{{"quantile", "of rows at most"}};
  for (const View& view : list) columns.push_back({view.key, view.title, "", view.style});
  Table table("quantiles",
              "How the risk is spread over " + count_of(rows.size(), "row") +
                  " (the worse direction of each)",
              std::move(columns));
  std::vector<std::vector<RiskNumber>> sorted;
  for (const View& view : list) {
    std::vector<RiskNumber> values;
    values.reserve(rows.size());
    for (const RowRisk* risk : rows) values.push_back(view.of(*risk));
    std::sort(values.begin(), values.end(),
              [](const RiskNumber& a, const RiskNumber& b) { return a.value < b.value; });
    sorted.push_back(std::move(values));
  }
  for (const auto& [label, level] : {std::pair{"0 % (least)", 0.0},
                                     {"25 %", 0.25},
                                     {"50 % (median)", 0.5},
                                     {"75 %", 0.75},
                                     {"95 %", 0.95},
                                     {"99 %", 0.99},
                                     {"100 % (largest)", 1.0}}) {
    std::vector<Cell> cells{label};
    for (const auto& values : sorted) {
      // The smallest value that at least `level` of the rows do not exceed: no interpolation, so
      // that every quantile is the exact risk of some row.
      const double position = std::ceil(level * static_cast<double>(values.size())) - 1.0;
      cells.emplace_back(claimed(values[static_cast<std::size_t>(std::max(0.0, position))]));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::string words_of_model(const RowsQuestion& question, const RegressionInput& input) {
  const bool sum = question.ridge.loss == LossScale::sum;
  const bool scaled = question.ridge.ridge_scale == RidgeScale::times_rows;
  std::string ridge = fmt::format("ridge strength {}", format_input(question.ridge.ridge));
  if (scaled) {
    ridge += " times the number of rows N";
  } else {
    ridge += sum ? ", which does not grow with the number of rows N" : " (of the mean loss)";
  }
  return fmt::format("Ridge regression on {} with {} ({}); {} of half the squared errors, {}.",
                     count_of(static_cast<std::size_t>(input.features.rows()), "row"),
                     count_of(input.parameters.size(), "parameter"),
                     fmt::join(input.parameters, ", "),
                     sum ? "sum" : "mean (D' is divided by its own size)", ridge);
}

std::string words_of_noise(const Covariance& noise) {
  return std::visit(
      Overloaded{[](const Isotropic& c) {
                   return fmt::format("isotropic, variance {}", format_input(c.variance));
                 },
                 [](const Diagonal&) { return std::string("diagonal"); },
                 [](const Factored&) { return std::string("diagonal plus low rank"); },
                 [](const Dense&) { return std::string("dense"); }},
      noise);
}

std::string words_of_release(const Release& release) {
  return std::visit(
      Overloaded{
          [](const FlowRelease& flow) {
            const std::string noise = words_of_noise(flow.noise);
            const std::string time =
                std::isinf(flow.time)
                    ? std::string("in the long run (the stationary law)")
                    : fmt::format("at time {}, started at 0", format_input(flow.time));
            return fmt::format(
                "What is released: the weights of noisy gradient flow {}, seen once; diffusion "
                "covariance {}. Time is continuous: a discrete training run follows another law.",
                time, noise);
          },
          [](const MinimiserRelease& r) {
            return fmt::format(
                "What is released: the exact minimiser plus one draw of N(0, S), S {}.",
                words_of_noise(r.noise));
          }},
      release);
}

void add_caveats(Document& document, const RowsQuestion& question, const RegressionInput& input) {
  if (input.dropped > 0) {
    document.state(StatementKind::warning,
                   fmt::format("{} with missing values left out; the risks are those of the "
                               "remaining table.",
                               count_of(input.dropped, "row")));
  }
  if (question.standardised_by_self) {
    document.state(StatementKind::warning,
                   "The columns were standardised by the table's own moments, which also depend on "
                   "every row: that dependence is outside the claim. Use public constants.");
  } else if (!question.standardised_by.empty()) {
    document.state(
        StatementKind::info,
        fmt::format("Columns were standardised by the constants of {}, taken to be public{}.",
                    question.standardised_by,
                    input.not_rescaled.empty() ? std::string()
                                               : fmt::format("; left as they are: {}",
                                                             fmt::join(input.not_rescaled, ", "))));
  }
  const auto* flow = std::get_if<FlowRelease>(&question.risk.release);
  if (flow != nullptr && flow->time > 0.0) {
    document.state(StatementKind::info,
                   "D and D' have different curvatures, so a part of each risk stays however large "
                   "the noise is (Spec §5): more noise hides where the minimiser moved, not how "
                   "sharp the loss became.");
  }
  document.state(StatementKind::assumption,
                 "These are the risks of these rows under this table, to an attacker who knows all "
                 "other rows. They are not a differential-privacy guarantee, which would speak of "
                 "all tables. The list itself is computed from the rows and is sensitive: do not "
                 "publish it.");
}

void add_exceptions(Document& document, const std::vector<RowRisk>& risks) {
  std::size_t no_model = 0;
  std::size_t failed = 0;
  std::size_t missing = 0;
  const RowRisk* example = nullptr;
  for (const RowRisk& risk : risks) {
    if (risk.status == RowStatus::no_model) ++no_model;
    if (risk.status == RowStatus::not_computed) ++missing;
    if (risk.status == RowStatus::failed) {
      ++failed;
      if (example == nullptr) example = &risk;
    }
  }
  if (no_model > 0) {
    document.state(StatementKind::warning,
                   fmt::format("{} alone determine{} a parameter: without such a row there is no "
                               "model to compare with, and its presence is plain. Add ridge.",
                               count_of(no_model, "row"), no_model == 1 ? "s" : ""));
  }
  if (failed > 0) {
    document.state(StatementKind::warning,
                   fmt::format("no trustworthy number for {}, such as row {}: {}",
                               count_of(failed, "row"), example->row + 1, example->message));
  }
  if (missing > 0) {
    document.state(StatementKind::warning,
                   fmt::format("stopped early: {} of {} rows were not computed, and the tables "
                               "above speak of the others only.",
                               missing, risks.size()));
  }
}

}  // namespace

void add_row_risks(Document& document, const RowsQuestion& question, const RegressionInput& input,
                   const std::vector<RowRisk>& risks) {
  document.state(StatementKind::info, words_of_model(question, input));
  document.state(StatementKind::info, words_of_release(question.risk.release));
  document.state(
      StatementKind::info,
      question.risk.replacement
          ? fmt::format("D' has the record of {} in place of the row.", question.replacement_file)
          : std::string("D' is the table without the row."));
  const std::vector<const RowRisk*> rows = computed(risks);
  document.add(riskiest_rows(question, input, rows, risks));
  if (!rows.empty()) {
    document.add(quantiles(question, rows));
    std::vector<double> advantages;
    advantages.reserve(rows.size());
    for (const RowRisk* risk : rows) advantages.push_back(risk->advantage.value);
    document.add(histogram("advantage", "Membership advantage over the rows",
                           {"advantage of the best attack", "", Scale::linear}, advantages));
  }
  add_exceptions(document, risks);
  add_caveats(document, question, input);
}

void write_row_risks(const std::string& path, const RowsQuestion& question,
                     const RegressionInput& input, const std::vector<RowRisk>& risks) {
  const std::vector<View> list = views(question);
  std::vector<std::string> columns{"row", "line", "status", "leverage"};
  for (const View& view : list) columns.push_back(view.key);
  columns.emplace_back("claim");
  CsvWriter out(path, columns);
  for (const RowRisk& risk : risks) {
    const auto line = static_cast<std::int64_t>(input.lines[static_cast<std::size_t>(risk.row)]);
    out.integer(risk.row + 1).integer(line).text(name(risk.status));
    const bool known = risk.status == RowStatus::ok;
    known ? out.number(risk.leverage) : out.text("");
    Claim claim = Claim::exact;
    for (const View& view : list) {
      if (!known) {
        out.text("");
        continue;
      }
      const RiskNumber number = view.of(risk);
      if (number.claim != Claim::exact) claim = number.claim;
      out.number(number.value);
    }
    out.text(known ? name(claim) : "").end_row();
  }
  out.commit();
}

}  // namespace sfumato::cli
