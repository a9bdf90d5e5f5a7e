#include "sfumato/quadratic/quadratic_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

/// Collects one claimed number after the other; the series claims what its weakest number does.
class Curve {
 public:
  Curve(std::string key, std::string title) : series_{std::move(key), std::move(title), {}, {}} {}

  void add(double x, const Claimed<double>& y) {
    series_.x.push_back(x);
    series_.y.push_back(y.value);
    series_.method = y.method;
    if (y.claim != Claim::exact) series_.claim = y.claim;
  }
  [[nodiscard]] const Series& series() const { return series_; }

 private:
  Series series_;
};

Claimed<double> number(const Claimed<Nats>& kl) {
  return map(kl, [](Nats value) { return value.value(); });
}
Claimed<double> number(const Claimed<Delta>& delta) {
  return map(delta, [](Delta value) { return value.probability(); });
}

}  // namespace

void add_training_figures(const QuadraticAnswer& answer, Document& document) {
  const QuadraticQuestion& question = answer.question;
  const double epsilon = question.risk.epsilons.front();
  Curve kl[] = {{"forward", "KL(D||D')"}, {"reverse", "KL(D'||D)"}};
  Curve delta[] = {{"forward", "delta D||D'"}, {"reverse", "delta D'||D"}};
  for (const QuadraticPoint& point : answer.curve) {
    for (const std::size_t k : {0U, 1U}) {
      kl[k].add(point.when, number(point.kl[k]));
      delta[k].add(point.when, number(point.delta[k]));
    }
  }
  const char* over = question.chain() != nullptr ? "steps" : "time";
  const Axis x{look_column(question).title, "", Scale::log};
  Figure kl_figure(fmt::format("kl_over_{}", over), fmt::format("KL over {}", over), Mark::line, x,
                   {"KL", "nats"});
  Figure delta_figure(fmt::format("delta_over_{}", over),
                      fmt::format("delta at epsilon = {} over {}", format_input(epsilon), over),
                      Mark::line, x, {"delta"});
  for (const std::size_t k : {0U, 1U}) {
    kl_figure.add(kl[k].series());
    delta_figure.add(delta[k].series());
  }
  kl_figure.set_caption(
      "How far apart the distributions of the parameters on D and on D' are: 0 is no difference.");
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
  Curve best("best_attack", "best attack");
  for (const double fpr : false_positive_rates()) best.add(fpr, last->risk->tpr(fpr));
  Figure figure("tradeoff", "Trade-off curve, " + look_text(answer.question, *last), Mark::line,
                {"false-positive rate", "", Scale::log}, {"true-positive rate", "", Scale::log});
  figure.add(best.series());
  figure.set_caption("No attack that sees the parameters once does better than this curve.");
  document.add(std::move(figure));
}

}  // namespace sfumato
