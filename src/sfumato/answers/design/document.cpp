#include "sfumato/answers/design/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/design/noise_shares.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

std::string cost_text(const DesignQuestion& question) {
  return question.minimax ? "largest s^T Sigma^{-1} s" : "mean s^T Sigma^{-1} s";
}

bool is_full(DesignForm form) { return form == DesignForm::full || form == DesignForm::low_rank; }

Table summary_table(const DesignQuestion& question, const Design& design) {
  Table table(
      "design", "Design",
      {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, Align::right}});
  const DesignForm form = question.task.form;
  table.add_row({"form", std::string(name(form))});
  table.add_row({"coordinates", question.hidden.dimension});
  table.add_row({question.measure.name,
                 exact(question.measure.scale * design.budget, "spent by this covariance")});
  table.add_row({cost_text(question), claimed_value(design)});
  const bool regularised = question.task.regularisation > 0.0;
  if (regularised) {
    table.add_row({"that plus rho tr(W^{-1} Sigma^{-1})",
                   exact(design.objective, "what a regularised design makes least")});
  }
  table.add_row({regularised ? "lower bound of the sum for this form" : "lower bound for this form",
                 Claimed<double>{design.lower_bound, Claim::lower_bound, "dual value"}});
  table.add_row({"certified gap", stated_gap(design)});
  if (design.iterations > 0) table.add_row({"iterations", design.iterations});
  table.add_row(
      {"the same cost with isotropic noise", exact(design.isotropic_value, "closed form")});
  table.add_row({"gain over isotropic", exact(design.gain_over_isotropic(), "ratio of costs")});
  if (is_full(form) && design.diagonal_value) {
    table.add_row({"the same cost with diagonal noise",
                   exact(*design.diagonal_value, "best diagonal noise, to the same tolerance")});
    table.add_row({"gain over diagonal", exact(*design.gain_over_diagonal(), "ratio of costs")});
  }
  return table;
}

void state_warnings(Document& document, const Design& design) {
  for (const DesignWarning warning : design.warnings) {
    std::string text(describe(warning));
    if (warning == DesignWarning::silent_coordinates) {
      text += fmt::format(" ({} of them; --floor gives them some)", design.silent);
    }
    document.state(StatementKind::warning, text + ".");
  }
}

}  // namespace

void state_origin(Document& document, const std::string& what, const std::string& source,
                  bool is_private) {
  document.state(StatementKind::info, fmt::format("{} from {}, said to be {}.", what, source,
                                                  is_private ? "private" : "public"));
  if (!is_private) return;
  document.state(StatementKind::warning,
                 "the differences are private: a Sigma chosen from private data is itself a "
                 "release, and nothing here bounds what it reveals. Use it to learn what would be "
                 "gained, not to train a model that is published.");
}

void state_cost(Document& document) {
  document.state(
      StatementKind::assumption,
      "the cost s^T Sigma^{-1} s is the integrand of the path bound: half of it is KL per unit of "
      "training time, and KL <= cost / kappa for all times where the drift contracts at rate "
      "kappa. "
      "It holds for the given differences; a record whose difference is not among them may show "
      "more.");
}

void add_shares(Document& document, const DesignTask& task, const Covariance& noise, int top) {
  if (top == 0 || task.form == DesignForm::isotropic) return;
  const bool grouped = task.form == DesignForm::grouped;
  Table table("noise", grouped ? "Where the noise goes, by group" : "Where the noise goes",
              {{"index", grouped ? "group" : "coordinate"},
               {"variance", grouped ? "mean variance" : "variance"},
               {"share", "share of the budget", "", NumberStyle::probability}});
  const auto shares = grouped ? largest_groups(noise, task.budget.weights, task.groups, top)
                              : largest_coordinates(noise, task.budget.weights, top);
  Series bars{"share", "share of the budget", {}, {}, {}, Claim::exact, "share of tr(W Sigma)"};
  std::vector<std::string> names;
  for (const NoiseShare& share : shares) {
    table.add_row({share.index + 1, exact(share.variance, "entry of Sigma"),
                   exact(share.share, "share of tr(W Sigma)")});
    bars.x.push_back(static_cast<double>(names.size()));
    bars.y.push_back(share.share);
    names.push_back(fmt::format("{} {}", grouped ? "group" : "coordinate", share.index + 1));
  }
  if (names.empty()) return document.add(std::move(table));
  Figure figure("noise_figure", table.title(), Mark::columns,
                {grouped ? "group" : "coordinate", "", Scale::linear, std::move(names)},
                {"share of the budget"});
  figure.add(std::move(bars));
  document.add(std::move(table));
  document.add(std::move(figure));
}

void add_design(Document& document, const DesignQuestion& question, const Design& design, int top) {
  document.add(summary_table(question, design));
  add_shares(document, question.task, design.covariance, top);
  state_warnings(document, design);
  if (is_full(question.task.form) && design.gap > 1e-3) {
    document.state(
        StatementKind::warning,
        fmt::format("the gap is {:.1e}: up to so much could still be gained.", design.gap));
  }
}

void add_frontier(Document& document, const DesignQuestion& question,
                  const std::vector<FrontierPoint>& points) {
  Table table("frontier", "Frontier: least cost for each error",
              {{"error", question.measure.name},
               {"cost", cost_text(question)},
               {"isotropic", "with isotropic noise"},
               {"gain", "gain"}});
  Series best{"design", std::string(name(question.task.form)), {}, {}};
  Series isotropic{"isotropic", "isotropic", {}, {}};
  for (const FrontierPoint& point : points) {
    const double error = question.measure.scale * point.design.budget;
    table.add_row({error, claimed_value(point.design),
                   exact(point.design.isotropic_value, "closed form"),
                   exact(point.design.gain_over_isotropic(), "ratio of costs")});
    if (!std::isfinite(point.design.value)) continue;
    best.x.push_back(error);
    best.y.push_back(point.design.value);
    if (!std::isfinite(point.design.isotropic_value)) continue;
    isotropic.x.push_back(error);
    isotropic.y.push_back(point.design.isotropic_value);
  }
  document.add(std::move(table));
  Figure figure("frontier_figure", "Risk against error", Mark::line,
                {question.measure.name, "", Scale::log}, {cost_text(question), "", Scale::log});
  figure.add(std::move(best));
  figure.add(std::move(isotropic));
  document.add(std::move(figure));
}

}  // namespace sfumato
