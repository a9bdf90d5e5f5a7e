#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/design/budget.hpp"
#include "sfumato/design/budget_for_risk.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_iterate.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
constexpr Index kMostCoordinates = 400;
constexpr int kAround = 72;  // points of an ellipse

Series ellipse(std::string key, std::string title, double first, double second) {
  Series series{std::move(key), std::move(title),        {}, {}, {},
                Claim::exact,   "one standard deviation"};
  for (int i = 0; i <= kAround; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kAround;
    series.x.push_back(std::sqrt(first) * std::cos(angle));
    series.y.push_back(std::sqrt(second) * std::sin(angle));
  }
  return series;
}

Figure ellipse_figure(double first, double second, double isotropic) {
  Figure figure("noise_ellipse", "Shape of the noise in the two directions that get most of it",
                Mark::line, {"direction with most noise", "parameter units"},
                {"second direction", "parameter units"});
  figure.add(ellipse("designed", "designed", first, second));
  figure.add(ellipse("isotropic", "isotropic, same error", isotropic, isotropic));
  figure.set_caption("Ellipses of one standard deviation; both noises cost the same accuracy.");
  return figure;
}

Figure spectrum_figure(const Eigen::VectorXd& ascending, double isotropic) {
  Figure figure("noise_spectrum", "Spectrum of the noise", Mark::points, {"direction, by variance"},
                {"variance", "", Scale::log});
  Series designed{"designed", "designed", {}, {}, {}, Claim::exact, "eigenvalues of Sigma"};
  Series same{"isotropic",  "isotropic, same error", {}, {}, {},
              Claim::exact, "tr(W Sigma) / tr(W)"};
  same.mark = Mark::line;
  const Index n = ascending.size();
  for (Index i = 0; i < n; ++i) {
    designed.x.push_back(static_cast<double>(i + 1));
    designed.y.push_back(std::max(0.0, ascending(n - 1 - i)));
  }
  same.x = {1.0, static_cast<double>(n)};
  same.y = {isotropic, isotropic};
  figure.add(std::move(designed));
  figure.add(std::move(same));
  figure.set_caption("Above the line the design adds more noise than isotropic noise, below less.");
  return figure;
}

/// The shape of a designed noise beside isotropic noise of the same error: its ellipse in the two directions that
/// get most noise, and its spectrum. Nothing for isotropic noise, one coordinate, or more than 400.
void add_shape_figures(Document& document, const DesignAnswer& answer, const Covariance& noise) {
  const Index n = answer.dimension();
  if (n < 2 || n > kMostCoordinates || std::holds_alternative<Isotropic>(noise)) return;
  const SymmetricEigen eigen(dense(noise), SymmetricEigen::Want::values);
  if (!eigen.converged()) return;
  const Eigen::VectorXd& values = eigen.eigenvalues();
  if (!(values(n - 1) > 0.0)) return;
  const double isotropic = weighted_trace(answer.measure.weights, noise) /
                           weighted_trace(answer.measure.weights, Isotropic{1.0, n});
  document.add(ellipse_figure(values(n - 1), std::max(0.0, values(n - 2)), isotropic));
  if (n > 2) document.add(spectrum_figure(values, isotropic));
}

Claimed<double> exact(double value, const char* method) { return {value, Claim::exact, method}; }

std::string cost_text(const DesignAnswer& answer) {
  return answer.minimax ? "privacy cost, largest s^T Sigma^{-1} s"
                        : "privacy cost, mean s^T Sigma^{-1} s";
}

bool is_full(DesignForm form) { return form == DesignForm::full || form == DesignForm::low_rank; }

bool has_constant_gain(const std::vector<DesignFrontierPoint>& points) {
  const double first = points.front().design.gain_over_isotropic();
  return std::all_of(points.begin(), points.end(), [&](const DesignFrontierPoint& point) {
    return std::abs(point.design.gain_over_isotropic() / first - 1.0) < 1e-4;
  });
}

template <class Row>
RowFields<Row> in_detail(RowFields<Row> fields, Detail detail) {
  return detail == Detail::full ? fields : bare_fields(std::move(fields));
}

RowField<Design> design_field(std::string key, std::string title,
                              std::function<Cell(const Design&)> of, std::string result = {}) {
  RowField<Design> field;
  field.key = std::move(key);
  field.title = std::move(title);
  field.of = std::move(of);
  field.result = std::move(result);
  return field;
}

/// What one design is and achieves.
RowFields<Design> design_fields(const DesignAnswer& answer) {
  const auto computed = [](auto number, const char* method) {
    return [=](const Design& design) { return Cell(exact(number(design), method)); };
  };
  const auto says = [](auto value) { return [=](const Design&) { return Cell(value); }; };
  const auto beside_diagonal = [](auto number, const char* method) {
    return [=](const Design& design) {
      return design.diagonal_value ? Cell(exact(number(design), method)) : Cell(Empty{});
    };
  };
  const bool regularised = answer.task.regularisation > 0.0;
  const double scale = answer.measure.scale;
  RowFields<Design> list;
  const auto add = [&](auto... field) { list.push_back(design_field(std::move(field)...)); };
  add("form", "form", says(std::string(name(answer.task.form))));
  add("coordinates", "coordinates", says(answer.dimension()));
  add("error", answer.measure.name,
      computed([scale](const Design& design) { return scale * design.budget; },
               "of this covariance"));
  add(
      "cost", cost_text(answer), [](const Design& design) { return Cell(claimed_value(design)); },
      "privacy_cost");
  if (regularised) {
    add("objective", "that plus rho tr(W^{-1} Sigma^{-1})",
        computed(std::mem_fn(&Design::objective), "the objective of a regularised design"));
  }
  add(
      "lower_bound",
      regularised ? "lower bound on the sum for this form" : "lower bound for this form",
      [](const Design& design) {
        return Cell(Claimed<double>{design.lower_bound, Claim::lower_bound, "dual value"});
      },
      "lower_bound");
  add("gap", "certified gap", [](const Design& design) { return Cell(stated_gap(design)); });
  add("iterations", "iterations", [](const Design& design) {
    return design.iterations > 0 ? Cell(design.iterations) : Cell(Empty{});
  });
  add("isotropic", "privacy cost with isotropic noise",
      computed(std::mem_fn(&Design::isotropic_value), "closed form"));
  add("gain", "gain over isotropic",
      computed(std::mem_fn(&Design::gain_over_isotropic), "ratio of costs"), "gain_over_isotropic");
  if (!is_full(answer.task.form)) return list;
  add("diagonal", "privacy cost with diagonal noise",
      beside_diagonal([](const Design& d) { return *d.diagonal_value; },
                      "best diagonal noise, to the same tolerance"));
  add("gain_over_diagonal", "gain over diagonal",
      beside_diagonal([](const Design& d) { return *d.gain_over_diagonal(); }, "ratio of costs"));
  return list;
}

/// Cost against error for the asked form and for isotropic noise; in brief every fifth point.
Table frontier_table(const DesignAnswer& answer, const std::vector<DesignFrontierPoint>& points,
                     Detail detail) {
  std::size_t step = detail == Detail::brief && points.size() > 5 ? 5 : 1;
  // Both costs scale with the error alike: then three rows say it.
  if (points.size() > 5 && has_constant_gain(points)) step = (points.size() - 1) / 2;
  std::vector<DesignFrontierPoint> rows;
  for (std::size_t i = 0; i < points.size(); i += step) rows.push_back(points[i]);
  const RowFields<Design> numbers = design_fields(answer);
  RowField<DesignFrontierPoint> error;
  error.key = "error";
  error.title = answer.measure.name;
  error.of = [](const DesignFrontierPoint& point) { return Cell(point.error); };
  RowFields<DesignFrontierPoint> fields = {std::move(error)};
  for (const auto& [key, title] : {std::pair("cost", cost_text(answer)),
                                   std::pair("isotropic", std::string("with isotropic noise")),
                                   std::pair("gain", std::string("gain"))}) {
    fields.push_back(through<DesignFrontierPoint>(&DesignFrontierPoint::design,
                                                  field_called(numbers, key, title)));
  }
  return table_of("frontier", "Frontier: smallest privacy cost for each error",
                  in_detail(std::move(fields), detail), rows);
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
    figure.set_caption(say(
        "At every error isotropic noise costs {} times as much privacy: both scale with the size "
        "of the noise alike.",
        ClaimedNumber{{points.front().design.gain_over_isotropic()}}));
  }
  return figure;
}

/// A round on a problem, with what it is judged by.
struct JudgedRound {
  std::size_t number;
  const IterationAnswer* rounds;

  [[nodiscard]] const DesignRound& round() const { return rounds->design.rounds[number]; }
  [[nodiscard]] const DesignRound& first() const { return rounds->design.rounds.front(); }
};

/// What a round achieved; its KL are the results of the best one.
RowFields<JudgedRound> round_fields(const IterationAnswer& rounds) {
  using Row = JudgedRound;
  return {
      {.key = "round", .title = "round", .of = [](const Row& row) { return Cell(row.number); }},
      {.key = "kl",
       .title = rounds.exact ? "KL(D||D')" : "bound on KL(D||D')",
       .of = [](const Row& row) { return Cell(row.round().kl); },
       .unit = "nats",
       .result = "kl_forward"},
      {.key = rounds.exact ? "kl_reverse" : "kl_proven",
       .title = rounds.exact ? "KL(D'||D)" : "proven KL(D||D')",
       .of =
           [](const Row& row) {
             const Claimed<Nats>& beside = row.rounds->beside[row.number];
             return std::isfinite(beside.value.value()) ? Cell(beside)
                                                        : Cell(Empty{"not proven here"});
           },
       .unit = "nats"},
      {.key = "gain",
       .title = "gain",
       .of =
           [](const Row& row) {
             const Claimed<Nats>& kl = row.round().kl;
             return Cell(Claimed<double>{gain(row.first().kl.value.value(), kl.value.value()),
                                         kl.claim, "KL of round 0 divided by that of this round"});
           }},
      {.key = "kept", .title = "kept", .of = [](const Row& row) {
         return Cell(row.number == 0        ? "isotropic"
                     : row.round().accepted ? "yes"
                                            : "no, not better");
       }}};
}

Table rounds_table(const IterationAnswer& rounds) {
  std::vector<JudgedRound> rows;
  for (std::size_t i = 0; i < rounds.design.rounds.size(); ++i) rows.push_back({i, &rounds});
  return table_of("rounds", fmt::format("Rounds, judged at t = {}", rounds.time),
                  round_fields(rounds), rows);
}

/// What the best round is.
Table iterated_table(const DesignAnswer& answer, const IterationAnswer& rounds, Detail detail) {
  const ErrorMeasure& measure = answer.measure;
  const DesignForm form = answer.task.form;
  const Index coordinates = answer.dimension();
  using Row = IteratedDesign;
  const RowFields<Row> fields = {
      {.key = "form",
       .title = "form",
       .of = [form](const Row&) { return Cell(std::string(name(form))); }},
      {.key = "coordinates",
       .title = "coordinates",
       .of = [coordinates](const Row&) { return Cell(coordinates); }},
      {.key = "error",
       .title = measure.name,
       .of =
           [&measure](const Row& design) {
             return Cell(
                 exact(measure.scale * weighted_trace(measure.weights, design.result().noise),
                       "of this covariance"));
           }},
      {.key = "kl_isotropic",
       .title = "KL(D||D') with isotropic noise",
       .of = [](const Row& design) { return Cell(design.rounds.front().kl); }},
      {.key = "kl",
       .title = "KL(D||D') with this noise",
       .of = [](const Row& design) { return Cell(design.result().kl); }},
      {.key = "gain", .title = "gain over isotropic", .of = [](const Row& design) {
         return Cell(Claimed<double>{
             gain(design.rounds.front().kl.value.value(), design.result().kl.value.value()),
             design.result().kl.claim, "ratio of the two"});
       }}};
  return quantities_of("design", "Design", in_detail(fields, detail), rounds.design);
}

/// The largest shares of the budget, by coordinate or group, as a table and a figure.
void add_shares(Document& document, const DesignAnswer& answer, const Covariance& noise) {
  const DesignTask& task = answer.task;
  const int top = answer.question.top;
  if (top == 0 || task.form == DesignForm::isotropic) return;
  const bool grouped = task.form == DesignForm::grouped;
  const auto shares = grouped ? largest_groups(noise, task.budget.weights, task.groups, top)
                              : largest_coordinates(noise, task.budget.weights, top);
  const char* each = grouped ? "group" : "coordinate";
  const RowFields<NoiseShare> fields = {
      {.key = "index",
       .title = each,
       .of = [](const NoiseShare& share) { return Cell(share.index + 1); }},
      {.key = "variance",
       .title = grouped ? "mean variance" : "variance",
       .of = [](const NoiseShare& share) { return Cell(exact(share.variance, "entry of Sigma")); }},
      {.key = "share",
       .title = "share of the budget",
       .of =
           [](const NoiseShare& share) { return Cell(exact(share.share, "share of tr(W Sigma)")); },
       .style = NumberStyle::probability}};
  Table table = table_of(
      "noise", grouped ? "Where the noise goes, by group" : "Where the noise goes", fields, shares);
  std::vector<std::string> names;
  for (const NoiseShare& share : shares)
    names.push_back(fmt::format("{} {}", each, share.index + 1));
  Series bars = series_of(fields.back(), shares,
                          [place = 0.0](const NoiseShare&) mutable { return place++; });
  if (names.empty()) return document.add(std::move(table));
  Figure figure("noise_figure", table.title(), Mark::columns,
                {each, "", Scale::linear, std::move(names)}, {"share of the budget"});
  figure.set_caption(say("What each {} gets of the noise that the budget allows.",
                         grouped ? "group" : "coordinate"));
  figure.add(std::move(bars));
  document.add(std::move(table));
  document.add(std::move(figure));
}

bool is_private(const DesignAnswer& answer) {
  return answer.question.differences_are == DifferencesOrigin::private_data;
}

void state_private(const DesignAnswer& answer, Document& document) {
  if (!is_private(answer)) return;
  document.state(StatementKind::warning,
                 say("the differences are private: a {} computed from private data is itself a "
                     "release, and nothing here bounds what it reveals. Use it to learn what could "
                     "be gained, not to train a model for publication.",
                     Maths{"Sigma"}));
}

/// What must stand in every answer: where the differences came from.
void state_origin(const DesignAnswer& answer, Document& document) {
  document.state(StatementKind::info, say("Hides {} from {}, declared {}.", answer.description,
                                          answer.source, name(answer.question.differences_are)));
  state_private(answer, document);
}

/// What the cost means for the KL.
void state_cost(Document& document) {
  document.state(
      StatementKind::assumption,
      say("half the cost {} is the path KL per unit of training time, and {} at all times if the "
          "drift contracts at rate {}. This holds for the given differences; a record whose "
          "difference is not among them may be more exposed.",
          Maths{"s^T Sigma^{-1} s"}, Maths{"KL <= cost / kappa"}, Maths{"kappa"}));
}

void state_rounds(const IterationAnswer& rounds, Document& document) {
  if (!rounds.way_of_change.empty()) {
    document.state(StatementKind::info, say("{}.", Text().add(Unmarked{rounds.way_of_change})));
  }
  document.state(
      StatementKind::info,
      rounds.exact
          ? Text("The differences depend on the weights, and the weights on the noise: each round "
                 "designs for the gradient of the exact KL at the previous noise.")
          : say("The differences depend on the weights, and the weights on the noise: each round "
                "designs for the differences along {} simulated paths (seed {}, steps of {}) under "
                "the previous noise.",
                rounds.paths, rounds.seed, fmt::format("{}", rounds.step)));
  document.state(
      StatementKind::assumption,
      "one pair of data sets: the noise that hides this record best may expose another.");
}

void state_warnings(const DesignAnswer& answer, const Design& design, Document& document) {
  for (const DesignWarning warning : design.warnings) {
    const Text which =
        warning == DesignWarning::silent_coordinates
            ? say(" ({} of them; {} gives them noise)", design.silent, KeyName{"floor"})
            : Text();
    document.state(StatementKind::warning, say("{}{}.", describe(warning), which));
  }
  const DesignForm form = answer.task.form;
  if ((form == DesignForm::full || form == DesignForm::low_rank) && design.gap > 1e-3) {
    document.state(StatementKind::warning,
                   say("the gap is {}: at most this much could still be gained.",
                       Maths{fmt::format("{:.1e}", design.gap)}));
  }
}

void state_warnings(const IterationAnswer& rounds, Document& document) {
  document.state(StatementKind::info,
                 say("Ended after round {}: {}.", rounds.design.rounds.size() - 1,
                     describe(rounds.design.end)));
  if (rounds.bare == 0) return;
  document.state(StatementKind::warning,
                 say("{} coordinates have less than {} of the isotropic variance: another record "
                     "may be exposed there ({} gives them more noise).",
                     rounds.bare, kBareShare, KeyName{"floor"}));
}

void add_full(const DesignAnswer& answer, Document& document) {
  state_origin(answer, document);
  std::visit(
      Overloaded{[&](const Design& design) {
                   state_cost(document);
                   document.add(quantities_of(
                       "design", "Design", in_detail(design_fields(answer), Detail::full), design));
                   add_shares(document, answer, design.covariance);
                   add_shape_figures(document, answer, design.covariance);
                   state_warnings(answer, design, document);
                 },
                 [&](const std::vector<DesignFrontierPoint>& points) {
                   state_cost(document);
                   document.add(frontier_table(answer, points, Detail::full));
                   document.add(frontier_figure(answer, points));
                 },
                 [&](const IterationAnswer& rounds) {
                   state_rounds(rounds, document);
                   document.add(rounds_table(rounds));
                   document.add(iterated_table(answer, rounds, Detail::full));
                   add_shares(document, answer, rounds.design.result().noise);
                   add_shape_figures(document, answer, rounds.design.result().noise);
                   state_warnings(rounds, document);
                 }},
      answer.found);
}

/// "privacy cost 8.372; isotropic noise of the same error: 30.76, 3.674 times as much."
Text gain_sentence(const Text& quantity, double value, double isotropic) {
  return say("{} {}. Isotropic noise of the same error: {}, {} times as much.", quantity,
             ClaimedNumber{{value}}, ClaimedNumber{{isotropic}},
             ClaimedNumber{{gain(isotropic, value)}});
}

/// How many times as much isotropic noise of the same error reveals; of a frontier at its middle.
double gain_of(const DesignAnswer& answer) {
  return std::visit(
      Overloaded{[](const Design& design) { return design.gain_over_isotropic(); },
                 [](const std::vector<DesignFrontierPoint>& points) {
                   return points.empty() ? 1.0
                                         : points[points.size() / 2].design.gain_over_isotropic();
                 },
                 [](const IterationAnswer& rounds) {
                   return gain(rounds.design.rounds.front().kl.value.value(),
                               rounds.design.result().kl.value.value());
                 }},
      answer.found);
}

Abstract abstract_of(const DesignAnswer& answer) {
  const double times = gain_of(answer);
  Abstract abstract;
  abstract.released = "Nothing yet: this is the noise to train with.";
  abstract.asked = say("Which {} noise hides {} best for a given loss of accuracy?",
                       name(answer.task.form), answer.description);
  if (!std::isfinite(times)) {
    abstract.answer = "Isotropic noise of this size is below the floor; the design is not.";
  } else if (times < 1.01) {
    abstract.answer = "Isotropic noise is as good: shaping the noise gains nothing here.";
  } else {
    constexpr int kDigits = 3;
    abstract.answer =
        say("Shaping the noise pays: isotropic noise of the same error reveals {} times as much.",
            ClaimedNumber{{times}, NumberStyle::general, kDigits});
  }
  abstract.cost = say("Measured by {}, the same for both noises.", Maths{answer.measure.name});
  abstract.advice =
      is_private(answer) ? "Do not train a model for publication with this noise: it was computed "
                           "from private data and is itself a "
                           "release."
      : times < 1.01
          ? "Use isotropic noise, which is simpler."
          : "Train with this noise; what it hides are the given differences, not others.";
  return abstract;
}

void add_brief(const DesignAnswer& answer, Document& document) {
  std::visit(
      Overloaded{
          [&](const Design& design) {
            document.state(StatementKind::info,
                           gain_sentence("Privacy cost", design.value, design.isotropic_value));
            document.add(quantities_of("design", "Design",
                                       in_detail(design_fields(answer), Detail::brief), design));
            state_warnings(answer, design, document);
          },
          [&](const std::vector<DesignFrontierPoint>& points) {
            document.add(frontier_table(answer, points, Detail::brief));
          },
          [&](const IterationAnswer& rounds) {
            document.state(StatementKind::info,
                           gain_sentence(say("{}", Maths{"KL(D||D')"}),
                                         rounds.design.result().kl.value.value(),
                                         rounds.design.rounds.front().kl.value.value()));
            document.add(iterated_table(answer, rounds, Detail::brief));
            state_warnings(rounds, document);
          }},
      answer.found);
  state_origin(answer, document);
}

void add_results(const DesignAnswer& answer, Document& document) {
  const RowFields<Design> numbers = design_fields(answer);
  const auto add = [&](const Design& design) {
    sfumato::add_results(document, numbers, design,
                         {{"error", answer.measure.scale * design.budget}}, Missing::stated);
  };
  std::visit(Overloaded{[&](const Design& design) { add(design); },
                        [&](const std::vector<DesignFrontierPoint>& points) {
                          for (const DesignFrontierPoint& point : points) add(point.design);
                        },
                        [&](const IterationAnswer& rounds) {
                          const auto best = rounds.design.best;
                          const std::vector<Subject> of = {{"round", best}};
                          sfumato::add_results(document, round_fields(rounds),
                                               JudgedRound{best, &rounds}, of, Missing::stated);
                          document.add_result(rounds.exact ? "kl_reverse" : "kl_proven",
                                              rounds.beside[best], of);
                        }},
             answer.found);
}

}  // namespace

Document document_of(const DesignAnswer& answer, Detail detail) {
  Document document = new_document("design", "Noise for " + answer.source);
  if (detail == Detail::full) {
    document.set_abstract(abstract_of(answer));
    add_full(answer, document);
  } else {
    add_brief(answer, document);
  }
  add_results(answer, document);
  if (answer.stopped) {
    document.state(StatementKind::warning, "stopped: the bounds hold, but the gap may be large.");
  }
  if (detail == Detail::brief) state_more(document);
  return document;
}

}  // namespace sfumato
