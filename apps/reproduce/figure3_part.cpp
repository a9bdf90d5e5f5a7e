#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reproduce/figure3.hpp"
#include "reproduce/part.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/csv_export.hpp"
#include "sfumato/report/sentences.hpp"

namespace sfumato::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKlMethod = "KL of the exact normal distributions at t = 100";
constexpr const char* kErrorMethod = "E|x_t - x*|^2 at t = 100, exact, bias included";
constexpr const char* kGainMethod =
    "exact KL at isotropic noise over exact KL at the best diagonal noise found, at equal error";
constexpr const char* kRuleMethod =
    "exact KL at the designed noise over exact KL at the best diagonal noise found, at equal error";
constexpr const char* kClosedForm = "closed form at t = inf for diagonal curvatures (Spec §13.3)";
/// Two gains differ, or an axis has more noise, when they do by more than the search resolves.
constexpr double kResolution = 1e-6;

/// One condition number and one difference.
struct Case {
  double condition;
  QuadraticDifference difference;
  std::vector<PlanePoint> plane;
  std::vector<LinePoint> line;
  EqualErrorGain forward;
  EqualErrorGain reverse;
  std::optional<double> closed_form;
  DesignedNoise designed;
  Eigen::Vector2d gradients;  ///< root mean square difference along each axis, isotropic noise
};

Case study(double condition, QuadraticDifference difference, int intervals) {
  const QuadraticPair pair = quadratic_pair(difference, condition);
  Case result{condition,
              difference,
              noise_plane(pair, intervals),
              isotropic_line(pair, intervals),
              gain_at_equal_error(pair, kFigure3Error, Direction::forward),
              gain_at_equal_error(pair, kFigure3Error, Direction::reverse),
              stationary_gain(pair, kFigure3Error),
              designed_noise(pair, kFigure3Error),
              {}};
  result.gradients =
      gradient_difference(pair, Eigen::Vector2d::Constant(result.forward.isotropic_variance));
  return result;
}

std::string title(QuadraticDifference difference) {
  switch (difference) {
    case QuadraticDifference::minimiser_shift: return "minimiser shift";
    case QuadraticDifference::gradient_shift: return "gradient shift";
    case QuadraticDifference::sharp_shift: return "sharp shift";
    case QuadraticDifference::flat_shift: return "flat shift";
    case QuadraticDifference::curvature: return "curvature";
    case QuadraticDifference::sharp_row: return "sharp row";
    case QuadraticDifference::generic_row: return "generic row";
  }
  throw InternalError("unknown difference");
}

std::string definition(QuadraticDifference difference) {
  switch (difference) {
    case QuadraticDifference::minimiser_shift: return "x'* = x* + 0.1 (1, 1)";
    case QuadraticDifference::gradient_shift: return "x'* = x* + A^-1 0.1 (1, 1)";
    case QuadraticDifference::sharp_shift: return "x'* = x* + 0.1 (1, 0)";
    case QuadraticDifference::flat_shift: return "x'* = x* + 0.1 (0, 1)";
    case QuadraticDifference::curvature: return "A' = 0.9 A, x'* = x*";
    case QuadraticDifference::sharp_row:
      return "without the row along A^1/2 (1, 0) of leverage 0.1 and residual 0.5 at x*";
    case QuadraticDifference::generic_row:
      return "without the row along A^1/2 (1, 1) of leverage 0.1 and residual 0.5 at x*";
  }
  throw InternalError("unknown difference");
}

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

Table definitions_table() {
  Table table("figure3_differences", "What D and D' differ in (the paper does not say)",
              {{"difference", "difference"}, {"definition", "D' compared with D"}});
  for (const QuadraticDifference difference : kQuadraticDifferences) {
    table.add_row({title(difference), definition(difference)});
  }
  return table;
}

/// What people see: 14 rows that fit a terminal.
Table gain_table(const std::vector<Case>& cases) {
  Table table(
      "figure3_gain",
      fmt::format(
          "KL(D||D') in nats of isotropic and of the best noise diag(x, y), both with error {}",
          kFigure3Error),
      {{"difference", "difference"},
       {"condition_number", "cond"},
       {"kl_isotropic", "KL iso"},
       {"kl_best", "KL best"},
       {"best_x", "x"},
       {"best_y", "y"},
       {"gain", "gain"},
       {"closed_form", "formula"},
       {"gain_reverse", "D'||D"}},
      2);
  for (const Case& c : cases) {
    table.add_row({title(c.difference), c.condition, exact(c.forward.kl_isotropic, kKlMethod),
                   exact(c.forward.kl_best, kKlMethod), std::sqrt(c.forward.best_variances(0)),
                   std::sqrt(c.forward.best_variances(1)), exact(c.forward.gain, kGainMethod),
                   c.closed_form ? Cell(exact(*c.closed_form, kClosedForm))
                                 : Cell(Empty{"no closed form: A and A' do not commute"}),
                   exact(c.reverse.gain, kGainMethod)});
  }
  return table;
}

/// What the best noise gains over noise that is designed from the differences of the gradients.
Table design_table(const std::vector<Case>& cases) {
  Table table(
      "figure3_design",
      fmt::format("Noise designed from the gradients' differences, at error {}, and what the "
                  "best noise gains over it",
                  kFigure3Error),
      {{"difference", "difference"},
       {"condition_number", "cond"},
       {"paper_x", "paper x"},
       {"paper_y", "paper y"},
       {"paper_kl", "paper KL"},
       {"gain_over_paper", "gain"},
       {"design_kl", "design KL"},
       {"gain_over_design", "gain"}},
      2);
  for (const Case& c : cases) {
    const auto gain = [&](const RuleOutcome& outcome) {
      return exact(outcome.kl / c.forward.kl_best, kRuleMethod);
    };
    const auto& [paper, design] = c.designed;
    table.add_row({title(c.difference), c.condition, std::sqrt(paper.variances(0)),
                   std::sqrt(paper.variances(1)), exact(paper.kl, kKlMethod), gain(paper),
                   exact(design.kl, kKlMethod), gain(design)});
  }
  return table;
}

/// What programs read: both directions in full.
Table gain_details(const std::vector<Case>& cases) {
  Table table("figure3_gain", "Gain at equal error",
              {{"difference", ""},
               {"condition_number", ""},
               {"error", ""},
               {"isotropic_variance", ""},
               {"kl_isotropic_forward", ""},
               {"kl_best_forward", ""},
               {"best_variance_x_forward", ""},
               {"best_variance_y_forward", ""},
               {"gain_forward", ""},
               {"closed_form_forward", ""},
               {"kl_isotropic_reverse", ""},
               {"kl_best_reverse", ""},
               {"best_variance_x_reverse", ""},
               {"best_variance_y_reverse", ""},
               {"gain_reverse", ""},
               {"gradient_difference_x", ""},
               {"gradient_difference_y", ""}});
  for (const Case& c : cases) {
    table.add_row({name(c.difference), c.condition, kFigure3Error, c.forward.isotropic_variance,
                   c.forward.kl_isotropic, c.forward.kl_best, c.forward.best_variances(0),
                   c.forward.best_variances(1), c.forward.gain,
                   c.closed_form ? Cell(*c.closed_form) : Cell(Empty{}), c.reverse.kl_isotropic,
                   c.reverse.kl_best, c.reverse.best_variances(0), c.reverse.best_variances(1),
                   c.reverse.gain, c.gradients(0), c.gradients(1)});
  }
  return table;
}

Table plane_table(const Case& c) {
  Table table("plane", "Noise plane",
              {{"x", ""}, {"y", ""}, {"error", ""}, {"kl_forward", ""}, {"kl_reverse", ""}});
  for (const PlanePoint& p : c.plane) {
    table.add_row({p.x, p.y, p.effect.error, p.effect.kl_forward, p.effect.kl_reverse});
  }
  return table;
}

Table line_table(const std::vector<Case>& cases) {
  Table table("line", "Isotropic noise x = y and the best diagonal noise of the same error",
              {{"difference", ""},
               {"condition_number", ""},
               {"x", ""},
               {"error", ""},
               {"kl_forward", ""},
               {"kl_reverse", ""},
               {"best_x", ""},
               {"best_y", ""},
               {"kl_best_forward", ""}});
  for (const Case& c : cases) {
    for (const LinePoint& p : c.line) {
      table.add_row({name(c.difference), c.condition, p.x, p.isotropic.error,
                     p.isotropic.kl_forward, p.isotropic.kl_reverse,
                     std::sqrt(p.forward.best_variances(0)), std::sqrt(p.forward.best_variances(1)),
                     p.forward.kl_best});
    }
  }
  return table;
}

/// The noises with the error of Figure 3, where they cross the plane: the line on which noises are compared.
Series equal_error(const Case& c) {
  Series series{
      "equal_error", fmt::format("equal error {:g}", kFigure3Error), {}, {}, {}, Claim::exact,
      kErrorMethod};
  series.mark = Mark::line;
  // Along each column of the plane the error rises with y: where it passes the value, between two rows.
  for (std::size_t i = 1; i < c.plane.size(); ++i) {
    const PlanePoint &below = c.plane[i - 1], &above = c.plane[i];
    if (below.x != above.x) continue;
    const double low = below.effect.error, high = above.effect.error;
    if (!(low <= kFigure3Error && kFigure3Error < high)) continue;
    const double share = (kFigure3Error - low) / (high - low);
    series.x.push_back(below.x);
    series.y.push_back(below.y + share * (above.y - below.y));
  }
  return series;
}

Series point_on_plane(const char* key, const char* title, double x, double y, double kl) {
  Series series{key, title, {x}, {y}, {kl}, Claim::exact, kKlMethod};
  series.mark = Mark::points;
  series.labels = {title};
  return series;
}

/// The paper's panel for one condition number: privacy over the plane, with the line of equal error on it and
/// the best noise on that line.
Figure plane_figure(const Case& c) {
  Series forward{"kl_forward", "KL(D||D')", {}, {}, {}, Claim::exact, kKlMethod};
  double least = HUGE_VAL, most = 0.0;
  for (const PlanePoint& p : c.plane) {
    forward.x.push_back(p.x);
    forward.y.push_back(p.y);
    forward.z.push_back(p.effect.kl_forward);
    least = std::min({least, p.x, p.y});
    most = std::max({most, p.x, p.y});
  }
  Figure figure(fmt::format("figure3_cond{}_kl", c.condition),
                fmt::format("KL, condition number {}, {}", c.condition, title(c.difference)),
                Mark::plane, Axis{"noise x, sharp axis"}, Axis{"noise y, flat axis"},
                Axis{"KL(D||D')", "nats", Scale::log});
  figure.add(std::move(forward));
  if (Series line = equal_error(c); line.x.size() > 1) figure.add(std::move(line));
  const double isotropic = std::sqrt(c.forward.isotropic_variance);
  if (isotropic >= least && isotropic <= most) {
    figure.add(
        point_on_plane("isotropic", "isotropic", isotropic, isotropic, c.forward.kl_isotropic));
  }
  const double x = std::sqrt(c.forward.best_variances(0)),
               y = std::sqrt(c.forward.best_variances(1));
  const bool inside = x >= least && x <= most && y >= least && y <= most;
  if (inside) figure.add(point_on_plane("best", "best", x, y, c.forward.kl_best));
  figure.set_caption(
      say("Dark is private. On the line the error is the same; from isotropic to the best noise on "
          "it{} the KL falls {}-fold.",
          inside ? Text()
                 : say(" ({}, {}, beyond the plane)", Maths{fmt::format("x = {:.3g}", x)},
                       Maths{fmt::format("y = {:.3g}", y)}),
          fmt::format("{:.3g}", c.forward.gain)));
  return figure;
}

/// KL against error for each condition number: the gain is one number, because the lines are parallel.
Figure tradeoff_figure(const std::vector<const Case*>& cases) {
  Figure figure("figure3_tradeoff", "KL against error, isotropic and best noise", Mark::line,
                Axis{"error", "", Scale::log}, Axis{"KL(D||D')", "nats", Scale::log});
  Text gains;
  for (const Case* c : cases) {
    Series isotropic{fmt::format("isotropic_{}", c->condition),
                     fmt::format("isotropic, condition number {}", c->condition),
                     {},
                     {},
                     {},
                     Claim::exact,
                     kKlMethod};
    Series best{fmt::format("best_{}", c->condition),
                fmt::format("best, condition number {}", c->condition),
                {},
                {},
                {},
                Claim::exact,
                kKlMethod};
    for (const LinePoint& p : c->line) {
      isotropic.x.push_back(p.isotropic.error);
      isotropic.y.push_back(p.isotropic.kl_forward);
      best.x.push_back(p.isotropic.error);
      best.y.push_back(p.forward.kl_best);
    }
    figure.add(std::move(isotropic));
    figure.add(std::move(best));
    gains += say("{}{} times less KL at condition number {}", gains.empty() ? "" : ", ",
                 fmt::format("{:.3g}", c->forward.gain), c->condition);
  }
  figure.set_caption(say("The lines are parallel, so the gain is one number: {}.", gains));
  return figure;
}

/// The cases of one difference, in the order of kFigure3Conditions.
struct Comparison {
  const Case& low;
  const Case& high;
};

/// Splits the differences by `test` and tells the verdict; `show` says what is worth knowing of one.
template <class Test, class Show>
Finding find(std::string key, std::string statement, const std::vector<Comparison>& comparisons,
             Test test, Show show, const char* yes, const char* no) {
  std::vector<std::string> confirmed;
  std::vector<std::string> refuted;
  for (const Comparison& comparison : comparisons) {
    (test(comparison) ? confirmed : refuted)
        .push_back(fmt::format("{} ({})", title(comparison.low.difference), show(comparison)));
  }
  std::string evidence;
  if (!confirmed.empty()) evidence += fmt::format("{}: {}.", yes, fmt::join(confirmed, ", "));
  if (!refuted.empty()) {
    evidence += fmt::format("{}{}: {}.", evidence.empty() ? "" : " ", no, fmt::join(refuted, ", "));
  }
  return {std::move(key), std::move(statement), verdict_of(confirmed.size(), comparisons.size()),
          fmt::format("{} of {} differences", confirmed.size(), comparisons.size()),
          std::move(evidence)};
}

/// The axis that has more, or 0 where both have the same: +1 the sharp axis, -1 the flat one.
int larger_axis(double sharp, double flat) {
  if (sharp > flat * (1.0 + kResolution)) return 1;
  return flat > sharp * (1.0 + kResolution) ? -1 : 0;
}

std::string noise_of(const Case& c) {
  return fmt::format("{:.3g}, {:.3g}", std::sqrt(c.forward.best_variances(0)),
                     std::sqrt(c.forward.best_variances(1)));
}

std::vector<Finding> findings(const std::vector<Comparison>& comparisons) {
  const auto gains = [](const Comparison& c) {
    return fmt::format("{:.4g} -> {:.4g}", c.low.forward.gain, c.high.forward.gain);
  };
  const auto helps = [](const Case& c) { return c.forward.gain > 1.0 + kResolution; };
  std::vector<Finding> list;
  list.push_back(find(
      "anisotropic_is_better", "anisotropic noise keeps the trade-off better", comparisons,
      [&](const Comparison& c) { return helps(c.low) && helps(c.high); }, gains,
      "Gain in KL at equal error, condition number 10 -> 100", "No gain"));
  list.push_back(find(
      "gain_grows_with_condition", "the more so, the higher the condition number", comparisons,
      [](const Comparison& c) {
        return c.high.forward.gain > c.low.forward.gain * (1.0 + kResolution);
      },
      gains, "The gain grows", "It does not"));
  // Sharp directions of the *difference* of the losses, as the paper says: where gradients differ.
  list.push_back(find(
      "noise_into_sharp_directions", "noise belongs where the losses differ sharply", comparisons,
      [&](const Comparison& c) {
        const auto agrees = [](const Case& k) {
          return larger_axis(k.forward.best_variances(0), k.forward.best_variances(1)) ==
                 larger_axis(k.gradients(0), k.gradients(1));
        };
        return agrees(c.low) && agrees(c.high);
      },
      [](const Comparison& c) {
        return fmt::format("{} and {}", noise_of(c.low), noise_of(c.high));
      },
      "The best noise x, y is larger where the gradients differ more, equal where they differ "
      "equally",
      "The best noise does not follow the gradients"));
  return list;
}

Json entry_of(const RuleOutcome& outcome, double best) {
  return {{"variances", {outcome.variances(0), outcome.variances(1)}},
          {"kl", outcome.kl},
          {"gain_of_the_best", outcome.kl / best}};
}

Json entry_of(const EqualErrorGain& gain) {
  return {{"kl_isotropic", gain.kl_isotropic},
          {"kl_best", gain.kl_best},
          {"best_variances", {gain.best_variances(0), gain.best_variances(1)}},
          {"degenerate", gain.is_degenerate()},
          {"gain", gain.gain}};
}

Json ours(const std::vector<Case>& cases, int intervals) {
  Json json = {{"claim", name(Claim::exact)},
               {"method", kGainMethod},
               {"time", kFigure3Time},
               {"error", kFigure3Error},
               {"grid_points_per_axis", intervals + 1}};
  for (const Case& c : cases) {
    Json& entry = json[fmt::format("condition_{}", c.condition)][std::string(name(c.difference))];
    entry = {{"definition", definition(c.difference)},
             {"isotropic_variance", c.forward.isotropic_variance},
             {"forward", entry_of(c.forward)},
             {"reverse", entry_of(c.reverse)},
             {"paper_rule", entry_of(c.designed.paper, c.forward.kl_best)},
             {"distance_design", entry_of(c.designed.distance, c.forward.kl_best)},
             {"closed_form_gain", c.closed_form ? Json(*c.closed_form) : Json(nullptr)},
             {"gradient_difference", {c.gradients(0), c.gradients(1)}}};
  }
  return json;
}

Json paper() {
  return {{"figure", 3},
          {"condition_numbers", kFigure3Conditions},
          {"time", kFigure3Time},
          {"numbers", nullptr},
          {"not_stated", {"what D and D' differ in", "start and minimiser", "range of the noise"}}};
}

}  // namespace

PartResult reproduce_figure3(RunScale scale) {
  // x, y from 0.1 to 5 in steps of 0.1 or 0.05.
  const int intervals = scale == RunScale::quick ? 49 : 98;
  std::vector<Case> cases;
  for (const QuadraticDifference difference : kQuadraticDifferences) {
    for (const double condition : kFigure3Conditions) {
      cases.push_back(study(condition, difference, intervals));
    }
  }
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < cases.size(); i += 2) {
    comparisons.push_back({cases[i], cases[i + 1]});
  }

  PartResult result;
  result.blocks.emplace_back(Statement{
      StatementKind::info,
      say("Noisy gradient flow of a quadratic loss with A = diag(cond, 1), from 0 towards x* = "
          "(1, 1), noise diag(x, y) dW, at {} = {}. {}",
          Maths{"t"}, kFigure3Time,
          not_a_guarantee("Each risk is that of one pair of data sets"))});
  result.blocks.emplace_back(definitions_table());
  result.blocks.emplace_back(gain_table(cases));
  result.blocks.emplace_back(
      Statement{StatementKind::info,
                "Where the best noise is 0 along an axis, the KL is a limit, and any other "
                "difference along that axis would be plain to see. Curvature alone is hidden by no "
                "noise: the KL does not depend on it. The best noise may lie outside the planes, "
                "which reach from 0.1 to 5."});
  result.blocks.emplace_back(design_table(cases));
  result.blocks.emplace_back(Statement{
      StatementKind::info,
      say("\"paper\": {} in proportion to the difference of the gradients, the optimum for a given "
          "{}. \"design\": the optimum for a given {}, the error in the long run. Both minimise "
          "the "
          "cost of one step; the best noise, the KL of the outcome, which forgets sharp directions "
          "sooner.",
          Maths{"Sigma_ii"}, Maths{"tr(Sigma)"}, Maths{"tr(A^-1 Sigma)/2"})});
  std::vector<const Case*> shifted;
  for (const Case& c : cases) {
    if (c.difference != QuadraticDifference::minimiser_shift) continue;
    result.blocks.emplace_back(plane_figure(c));
    shifted.push_back(&c);
  }
  result.blocks.emplace_back(tradeoff_figure(shifted));
  result.findings = findings(comparisons);
  for (const Case& c : cases) {
    result.files.push_back({fmt::format("figure3_cond{}_{}.csv", c.condition, name(c.difference)),
                            to_csv(plane_table(c))});
  }
  result.files.push_back({"figure3_line.csv", to_csv(line_table(cases))});
  result.files.push_back({"figure3_gain.csv", to_csv(gain_details(cases))});
  result.files.push_back({"figure3_design.csv", to_csv(design_table(cases))});
  result.paper = paper();
  result.ours = ours(cases, intervals);
  return result;
}

}  // namespace sfumato::apps
