#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "sfumato/quadratic/quadratic_tables.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

/// 33 false-positive rates from 1e-4 to 1, with equal ratios.
std::vector<double> false_positive_rates() {
  constexpr int kPoints = 33;
  std::vector<double> rates(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    rates[static_cast<std::size_t>(i)] =
        i + 1 == kPoints ? 1.0 : 1e-4 * std::pow(1.0 / 1e-4, i / (kPoints - 1.0));
  }
  return rates;
}

/// A curve over the points of a training, in one direction.
template <class Numbers>
RowField<QuadraticPoint> curve(std::size_t direction, const char* forward, const char* reverse,
                               Numbers numbers) {
  return {.key = direction == 0 ? "forward" : "reverse",
          .title = direction == 0 ? forward : reverse,
          .of = [=](const QuadraticPoint& point) { return Cell((point.*numbers)[direction]); }};
}

}  // namespace

void add_training_figures(const QuadraticAnswer& answer, Document& document) {
  const QuadraticQuestion& question = answer.question;
  const double epsilon = question.risk.epsilons.front();
  const char* over = question.chain() != nullptr ? "steps" : "time";
  const Axis x{look_field(question).title, "", Scale::log};
  Figure kl_figure(fmt::format("kl_over_{}", over), fmt::format("KL over {}", over), Mark::line, x,
                   {"KL", "nats"});
  Figure delta_figure(fmt::format("delta_over_{}", over),
                      fmt::format("delta at epsilon = {} over {}", format_input(epsilon), over),
                      Mark::line, x, {"delta"});
  for (const std::size_t k : {0U, 1U}) {
    const auto add = [&](Figure& figure, const RowField<QuadraticPoint>& field) {
      figure.add(series_of(field, answer.curve, &QuadraticPoint::when));
    };
    add(kl_figure, curve(k, "KL(D||D')", "KL(D'||D)", &QuadraticPoint::kl));
    add(delta_figure, curve(k, "delta D||D'", "delta D'||D", &QuadraticPoint::delta));
  }
  kl_figure.set_caption(say(
      "How far apart the distributions of the parameters on D and on {} are: 0 is no difference.",
      Maths{"D'"}));
  delta_figure.set_caption(
      fmt::format("What is left above a factor of exp({}) between the two distributions.",
                  format_input(epsilon)));
  document.add(std::move(kl_figure));
  document.add(std::move(delta_figure));
}

void add_tradeoff(const QuadraticAnswer& answer, Document& document) {
  const auto& observations = answer.observations;
  const auto last = std::find_if(observations.rbegin(), observations.rend(),
                                 [](const Observation& o) { return o.risk.has_value(); });
  if (last == observations.rend()) return;
  const RowField<double> best = {.key = "best_attack",
                                 .title = "best attack",
                                 .of = [&](double fpr) { return Cell(last->risk->tpr(fpr)); }};
  Figure figure("tradeoff", "Trade-off curve, " + look_text(answer.question, *last).plain(),
                Mark::line, {"false-positive rate", "", Scale::log},
                {"true-positive rate", "", Scale::log});
  figure.add(series_of(best, false_positive_rates(), std::identity{}));
  figure.set_caption("No attack that sees the parameters once does better than this curve.");
  document.add(std::move(figure));
}

}  // namespace sfumato
