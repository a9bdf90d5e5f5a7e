#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "reproduce/figure3.hpp"
#include "reproduce/part.hpp"
#include "reproduce/sensitivities.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Vector2d;
using Json = nlohmann::ordered_json;

/// The accuracy losses of Spec §13.2; the paper's are numbers beside its points.
constexpr std::array kLosses = {1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0};
constexpr const char* kMethod = "closed form of Spec §9.1, where the paper used an optimiser";
constexpr double kRounding = 1e-12;

struct Point {
  Vector2d sensitivities;
  double loss;    ///< zeta, the trace of Sigma
  Vector2d best;  ///< x, y
  Design design;
};

std::vector<Point> study() {
  std::vector<Point> points;
  for (const Vector2d& s : paper_sensitivities()) {
    for (const double loss : kLosses) {
      Design design = best_noise(s, loss);
      const Vector2d best = diagonal_of(design.covariance).cwiseSqrt();
      points.push_back({s, loss, best, std::move(design)});
    }
  }
  return points;
}

Table points_table(const std::vector<Point>& points) {
  Table table("figure2_optimal", "The best noise diag(x, y) for each loss of accuracy zeta",
              {{"sensitivities", "S"},
               {"zeta", "zeta"},
               {"x", "x"},
               {"y", "y"},
               {"privacy_cost", "privacy cost"},
               {"privacy_cost_isotropic", "isotropic"},
               {"gain", "gain"}},
              2);
  for (const Point& p : points) {
    table.add_row(
        {point_text(p.sensitivities), p.loss, Claimed<double>{p.best(0), Claim::exact, kMethod},
         Claimed<double>{p.best(1), Claim::exact, kMethod}, claimed_value(p.design),
         Claimed<double>{p.design.isotropic_value, Claim::exact, "closed form, x = y"},
         Claimed<double>{p.design.gain_over_isotropic(), Claim::exact, "ratio of the two"}});
  }
  return table;
}

/// What the best noise gains: the cost of both noises for each loss of accuracy.
Figure cost_figure(const std::vector<Point>& points) {
  Figure figure("figure2_cost", "Privacy cost against the loss of accuracy zeta", Mark::line,
                Axis{"zeta", "", Scale::log}, Axis{"privacy cost", "", Scale::log});
  for (const Vector2d& s : paper_sensitivities()) {
    const std::string key = fmt::format("S{}_{}", s(0), s(1)), setting = "S = " + point_text(s);
    Series best{"best_" + key, "best, " + setting, {}, {}, {}, Claim::exact, kMethod};
    Series isotropic{"isotropic_" + key, "isotropic, " + setting, {}, {}, {},
                     Claim::exact,       "closed form, x = y"};
    for (const Point& p : points) {
      if (p.sensitivities != s) continue;
      best.x.push_back(p.loss);
      best.y.push_back(p.design.value);
      isotropic.x.push_back(p.loss);
      isotropic.y.push_back(p.design.isotropic_value);
    }
    figure.add(std::move(isotropic));
    figure.add(std::move(best));
  }
  figure.set_caption("Unequal noise pays where the differences are unequal, and only there.");
  return figure;
}

/// Tries `test` on the points of one setting.
template <class Test>
Finding find(std::string key, std::string statement, const std::vector<Point>& points,
             const Vector2d& s, Test test, std::string evidence) {
  std::size_t confirmed = 0, total = 0;
  for (const Point& p : points) {
    if (p.sensitivities != s) continue;
    ++total;
    if (test(p)) ++confirmed;
  }
  return {std::move(key), std::move(statement), verdict_of(confirmed, total),
          fmt::format("{} of {} values of zeta", confirmed, total), std::move(evidence)};
}

/// The paper takes the trace of Sigma for the squared error. Tried on its own quadratics.
Finding trace_is_error(const Vector2d& s) {
  std::size_t confirmed = 0;
  std::vector<std::string> evidence;
  const Covariance noise = best_noise(s, 1.0).covariance;
  for (const double condition : kFigure3Conditions) {
    const double error =
        weighted_trace(distance_budget(Diagonal{Vector2d(condition, 1.0)}, 1.0).weights, noise);
    if (std::abs(error - 1.0) <= 1e-3) ++confirmed;
    evidence.push_back(fmt::format("{:.4g} for A = diag({}, 1)", error, condition));
  }
  return {"trace_is_error", "the squared error is the trace of Sigma",
          verdict_of(confirmed, kFigure3Conditions.size()),
          fmt::format("{} of {} quadratics", confirmed, kFigure3Conditions.size()),
          fmt::format("In the long run it is tr(A^-1 Sigma)/2: {} and the best noise of trace 1. "
                      "What tr(Sigma) does measure is the excess loss, tr(Sigma)/4 for any A.",
                      fmt::join(evidence, ", "))};
}

std::vector<Finding> findings(const std::vector<Point>& points) {
  const auto [equal, unequal] = paper_sensitivities();
  const auto helps = [](const Point& p) {
    return p.design.gain_over_isotropic() > 1.0 + kRounding;
  };
  const auto differ = [](const Point& p) {
    return std::abs(p.best(0) - p.best(1)) > kRounding * p.best(0);
  };
  const Point& first = points[kLosses.size()];
  return {
      find(
          "unequal_noise_is_better", "S = (10, 1): unequal noise is better", points, unequal,
          [&](const Point& p) { return helps(p) && differ(p); },
          fmt::format("x = {:.4g} y and the privacy cost falls by a factor of {:.4g}, for every "
                      "zeta.",
                      first.best(0) / first.best(1), first.design.gain_over_isotropic())),
      find(
          "equal_noise_is_best", "S = (10, 10): the best noise has x = y", points, equal,
          [&](const Point& p) { return !differ(p); },
          "Equal differences need equal noise, for every zeta."),
      trace_is_error(unequal)};
}

Json ours(const std::vector<Point>& points) {
  Json json = {{"claim", name(Claim::exact)}, {"method", kMethod}};
  for (const Point& p : points) {
    json["S " + point_text(p.sensitivities)].push_back({{"zeta", p.loss},
                                                        {"x", p.best(0)},
                                                        {"y", p.best(1)},
                                                        {"privacy_cost", p.design.value},
                                                        {"isotropic", p.design.isotropic_value}});
  }
  return json;
}

}  // namespace

PartResult reproduce_figure2(RunScale) {
  const std::vector<Point> points = study();
  PartResult result;
  result.blocks.emplace_back(
      Statement{StatementKind::info,
                "The noise diag(x, y) dW of trace x^2 + y^2 = zeta that hides a difference S of "
                "the gradients "
                "best: x^2 = zeta S_1/(S_1 + S_2), y^2 = zeta S_2/(S_1 + S_2)."});
  result.blocks.emplace_back(points_table(points));
  result.blocks.emplace_back(cost_figure(points));
  result.findings = findings(points);
  result.files.push_back({"figure2_optimal.csv", to_csv(points_table(points))});
  result.paper = {{"figure", 2},
                  {"S", {{10, 1}, {10, 10}}},
                  {"numbers", nullptr},
                  {"not_stated", {"values of zeta", "values of x and y"}}};
  result.ours = ours(points);
  return result;
}

}  // namespace sfumato::apps
