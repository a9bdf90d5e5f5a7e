#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_iterate.hpp"
#include "sfumato/design/design_tables.hpp"
#include "sfumato/design/shape_figures.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

bool is_private(const DesignAnswer& answer) {
  return answer.question.differences_are == DifferencesOrigin::private_data;
}

void state_private(const DesignAnswer& answer, Document& document) {
  if (!is_private(answer)) return;
  document.state(StatementKind::warning,
                 "the differences are private: a Sigma computed from private data is itself a "
                 "release, and nothing here bounds what it reveals. Use it to learn what could be "
                 "gained, not to train a model for publication.");
}

/// What must stand in every answer: where the differences came from.
void state_origin(const DesignAnswer& answer, Document& document) {
  document.state(
      StatementKind::info,
      fmt::format(
          "{}{} from {}, declared {}.",
          static_cast<char>(std::toupper(static_cast<unsigned char>(answer.description.front()))),
          answer.description.substr(1), answer.source, name(answer.question.differences_are)));
  state_private(answer, document);
}

/// What the cost means for the KL.
void state_cost(Document& document) {
  document.state(
      StatementKind::assumption,
      "half the cost s^T Sigma^{-1} s is the path KL per unit of training time, and KL <= cost / "
      "kappa at all times if the drift contracts at rate kappa. This holds for the given "
      "differences; a record whose difference is not among them may be more exposed.");
}

void state_rounds(const IterationAnswer& rounds, Document& document) {
  if (!rounds.way_of_change.empty()) {
    document.state(StatementKind::info, rounds.way_of_change + ".");
  }
  document.state(
      StatementKind::info,
      rounds.exact ? "The differences depend on the weights, and the weights on the noise: each "
                     "round designs for the gradient of the exact KL at the previous noise."
                   : fmt::format("The differences depend on the weights, and the weights on the "
                                 "noise: each round designs for the differences along {} "
                                 "simulated paths (seed {}, steps of {}) under the previous noise.",
                                 rounds.paths, rounds.seed, rounds.step));
  document.state(
      StatementKind::assumption,
      "one pair of data sets: the noise that hides this record best may expose another.");
}

void state_warnings(const DesignAnswer& answer, const Design& design, Document& document) {
  for (const DesignWarning warning : design.warnings) {
    std::string text(describe(warning));
    if (warning == DesignWarning::silent_coordinates) {
      text += fmt::format(" ({} of them; --floor gives them noise)", design.silent);
    }
    document.state(StatementKind::warning, text + ".");
  }
  const DesignForm form = answer.task.form;
  if ((form == DesignForm::full || form == DesignForm::low_rank) && design.gap > 1e-3) {
    document.state(
        StatementKind::warning,
        fmt::format("the gap is {:.1e}: at most this much could still be gained.", design.gap));
  }
}

void state_warnings(const IterationAnswer& rounds, Document& document) {
  document.state(StatementKind::info,
                 fmt::format("Ended after round {}: {}.", rounds.design.rounds.size() - 1,
                             describe(rounds.design.end)));
  if (rounds.bare == 0) return;
  document.state(StatementKind::warning,
                 fmt::format("{} coordinates have less than {} of the isotropic variance: another "
                             "record may be exposed there (--floor gives them more noise).",
                             rounds.bare, kBareShare));
}

void add_full(const DesignAnswer& answer, Document& document) {
  state_origin(answer, document);
  std::visit(Overloaded{[&](const Design& design) {
                          state_cost(document);
                          document.add(design_table(answer, design, Detail::full));
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
std::string gain_sentence(const std::string& quantity, double value, double isotropic) {
  return fmt::format("{} {}. Isotropic noise of the same error: {}, {} times as much.", quantity,
                     format_number(value), format_number(isotropic),
                     format_number(gain(isotropic, value)));
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
  const std::string much = format_number(times, Rounding::nearest, 3);
  Abstract abstract;
  abstract.released = "Nothing yet: this is the noise to train with.";
  abstract.asked = fmt::format("Which {} noise hides {} best for a given loss of accuracy?",
                               name(answer.task.form), answer.description);
  if (!std::isfinite(times)) {
    abstract.answer = "Isotropic noise of this size is below the floor; the design is not.";
  } else if (times < 1.01) {
    abstract.answer = "Isotropic noise is as good: shaping the noise gains nothing here.";
  } else {
    abstract.answer = fmt::format(
        "Shaping the noise pays: isotropic noise of the same error reveals {} times as much.",
        much);
  }
  abstract.cost = fmt::format("Measured by {}, the same for both noises.", answer.measure.name);
  abstract.advice =
      is_private(answer) ? "Do not train a model for publication with this noise: it was computed "
                           "from private data "
                           "and is itself a release."
      : times < 1.01
          ? "Use isotropic noise, which is simpler."
          : "Train with this noise; what it hides are the given differences, not others.";
  return abstract;
}

void add_brief(const DesignAnswer& answer, Document& document) {
  std::visit(Overloaded{[&](const Design& design) {
                          document.state(
                              StatementKind::info,
                              gain_sentence("Privacy cost", design.value, design.isotropic_value));
                          document.add(design_table(answer, design, Detail::brief));
                          state_warnings(answer, design, document);
                        },
                        [&](const std::vector<DesignFrontierPoint>& points) {
                          document.add(frontier_table(answer, points, Detail::brief));
                        },
                        [&](const IterationAnswer& rounds) {
                          document.state(
                              StatementKind::info,
                              gain_sentence("KL(D||D')", rounds.design.result().kl.value.value(),
                                            rounds.design.rounds.front().kl.value.value()));
                          document.add(iterated_table(answer, rounds, Detail::brief));
                          state_warnings(rounds, document);
                        }},
             answer.found);
  state_origin(answer, document);
}

void add_results(const DesignAnswer& answer, Document& document) {
  const auto add = [&](const Design& design) {
    const double error = answer.measure.scale * design.budget;
    document.add_result("privacy_cost", claimed_value(design), {{"error", error}});
    document.add_result("lower_bound",
                        Claimed<double>{design.lower_bound, Claim::lower_bound, "dual value"},
                        {{"error", error}});
    document.add_result(
        "gain_over_isotropic",
        Claimed<double>{design.gain_over_isotropic(), Claim::exact, "ratio of costs"},
        {{"error", error}});
  };
  std::visit(
      Overloaded{[&](const Design& design) { add(design); },
                 [&](const std::vector<DesignFrontierPoint>& points) {
                   for (const DesignFrontierPoint& point : points) add(point.design);
                 },
                 [&](const IterationAnswer& rounds) {
                   const auto best = rounds.design.best;
                   document.add_result("kl_forward", rounds.design.result().kl, {{"round", best}});
                   document.add_result(rounds.exact ? "kl_reverse" : "kl_proven",
                                       rounds.beside[best], {{"round", best}});
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
