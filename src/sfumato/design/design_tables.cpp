#include "sfumato/design/design_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/design/design_iterate.hpp"
#include "sfumato/design/noise_shares.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

std::string cost_text(const DesignAnswer& answer) {
  return answer.minimax ? "privacy cost, largest s^T Sigma^{-1} s"
                        : "privacy cost, mean s^T Sigma^{-1} s";
}

/// In brief a number stands without footnotes.
template <class T>
Cell shown(Claimed<T> claimed, Detail detail) {
  if (detail == Detail::brief) {
    claimed.method.clear();
    claimed.assumptions.clear();
  }
  return claimed;
}

bool is_full(DesignForm form) { return form == DesignForm::full || form == DesignForm::low_rank; }

bool has_constant_gain(const std::vector<DesignFrontierPoint>& points) {
  const double first = points.front().design.gain_over_isotropic();
  return std::all_of(points.begin(), points.end(), [&](const DesignFrontierPoint& point) {
    return std::abs(point.design.gain_over_isotropic() / first - 1.0) < 1e-4;
  });
}

}  // namespace

Table design_table(const DesignAnswer& answer, const Design& design, Detail detail) {
  Table table(
      "design", "Design",
      {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, Align::right}});
  const DesignForm form = answer.task.form;
  table.add_row({"form", std::string(name(form))});
  table.add_row({"coordinates", answer.dimension()});
  table.add_row({answer.measure.name,
                 shown(exact(answer.measure.scale * design.budget, "of this covariance"), detail)});
  table.add_row({cost_text(answer), shown(claimed_value(design), detail)});
  const bool regularised = answer.task.regularisation > 0.0;
  if (regularised) {
    table.add_row(
        {"that plus rho tr(W^{-1} Sigma^{-1})",
         shown(exact(design.objective, "the objective of a regularised design"), detail)});
  }
  table.add_row(
      {regularised ? "lower bound on the sum for this form" : "lower bound for this form",
       shown(Claimed<double>{design.lower_bound, Claim::lower_bound, "dual value"}, detail)});
  table.add_row({"certified gap", stated_gap(design)});
  if (design.iterations > 0) table.add_row({"iterations", design.iterations});
  table.add_row({"privacy cost with isotropic noise",
                 shown(exact(design.isotropic_value, "closed form"), detail)});
  table.add_row({"gain over isotropic",
                 shown(exact(design.gain_over_isotropic(), "ratio of costs"), detail)});
  if (is_full(form) && design.diagonal_value) {
    table.add_row(
        {"privacy cost with diagonal noise",
         shown(exact(*design.diagonal_value, "best diagonal noise, to the same tolerance"),
               detail)});
    table.add_row({"gain over diagonal",
                   shown(exact(*design.gain_over_diagonal(), "ratio of costs"), detail)});
  }
  return table;
}

Table frontier_table(const DesignAnswer& answer, const std::vector<DesignFrontierPoint>& points,
                     Detail detail) {
  Table table("frontier", "Frontier: smallest privacy cost for each error",
              {{"error", answer.measure.name},
               {"cost", cost_text(answer)},
               {"isotropic", "with isotropic noise"},
               {"gain", "gain"}});
  std::size_t step = detail == Detail::brief && points.size() > 5 ? 5 : 1;
  // Both costs scale with the error alike: then three rows say it.
  if (points.size() > 5 && has_constant_gain(points)) step = (points.size() - 1) / 2;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const Design& design = points[i].design;
    table.add_row({points[i].error, shown(claimed_value(design), detail),
                   shown(exact(design.isotropic_value, "closed form"), detail),
                   shown(exact(design.gain_over_isotropic(), "ratio of costs"), detail)});
  }
  return table;
}

Figure frontier_figure(const DesignAnswer& answer, const std::vector<DesignFrontierPoint>& points) {
  Series best{"design", std::string(name(answer.task.form)), {}, {}};
  Series isotropic{"isotropic", "isotropic", {}, {}};
  for (const DesignFrontierPoint& point : points) {
    if (!std::isfinite(point.design.value)) continue;
    best.x.push_back(point.error);
    best.y.push_back(point.design.value);
    if (!std::isfinite(point.design.isotropic_value)) continue;
    isotropic.x.push_back(point.error);
    isotropic.y.push_back(point.design.isotropic_value);
  }
  Figure figure("frontier_figure", "Privacy cost against error", Mark::line,
                {answer.measure.name, "", Scale::log}, {cost_text(answer), "", Scale::log});
  figure.add(std::move(best));
  figure.add(std::move(isotropic));
  if (!points.empty() && has_constant_gain(points)) {
    figure.set_caption(fmt::format(
        "At every error isotropic noise costs {} times as much privacy: both scale with "
        "the size of the noise alike.",
        format_number(points.front().design.gain_over_isotropic())));
  }
  return figure;
}

Table rounds_table(const IterationAnswer& rounds) {
  Table table("rounds", fmt::format("Rounds, judged at t = {}", rounds.time),
              {{"round", "round"},
               {"kl", rounds.exact ? "KL(D||D')" : "bound on KL(D||D')", "nats"},
               rounds.exact ? Column{"kl_reverse", "KL(D'||D)", "nats"}
                            : Column{"kl_proven", "proven KL(D||D')", "nats"},
               {"gain", "gain"},
               {"kept", "kept"}});
  const double first = rounds.design.rounds.front().kl.value.value();
  for (std::size_t i = 0; i < rounds.design.rounds.size(); ++i) {
    const DesignRound& round = rounds.design.rounds[i];
    const Claimed<Nats>& beside = rounds.beside[i];
    table.add_row(
        {static_cast<std::int64_t>(i), round.kl,
         std::isfinite(beside.value.value()) ? Cell(beside) : Cell(Empty{"not proven here"}),
         Claimed<double>{gain(first, round.kl.value.value()), round.kl.claim,
                         "KL of round 0 divided by that of this round"},
         i == 0 ? "isotropic" : (round.accepted ? "yes" : "no, not better")});
  }
  return table;
}

Table iterated_table(const DesignAnswer& answer, const IterationAnswer& rounds, Detail detail) {
  const IteratedDesign& design = rounds.design;
  const Covariance& noise = design.result().noise;
  Table table(
      "design", "Design",
      {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, Align::right}});
  table.add_row({"form", std::string(name(answer.task.form))});
  table.add_row({"coordinates", answer.dimension()});
  table.add_row({answer.measure.name,
                 shown(exact(answer.measure.scale * weighted_trace(answer.measure.weights, noise),
                             "of this covariance"),
                       detail)});
  table.add_row({"KL(D||D') with isotropic noise", shown(design.rounds.front().kl, detail)});
  table.add_row({"KL(D||D') with this noise", shown(design.result().kl, detail)});
  table.add_row(
      {"gain over isotropic", shown(Claimed<double>{gain(design.rounds.front().kl.value.value(),
                                                         design.result().kl.value.value()),
                                                    design.result().kl.claim, "ratio of the two"},
                                    detail)});
  return table;
}

void add_shares(Document& document, const DesignAnswer& answer, const Covariance& noise) {
  const DesignTask& task = answer.task;
  const int top = answer.question.top;
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
  figure.set_caption(fmt::format("What each {} gets of the noise that the budget allows.",
                                 grouped ? "group" : "coordinate"));
  figure.add(std::move(bars));
  document.add(std::move(table));
  document.add(std::move(figure));
}

}  // namespace sfumato
