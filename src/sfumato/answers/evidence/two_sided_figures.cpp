#include "sfumato/answers/evidence/two_sided_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {
namespace {

constexpr int kPoints = 41;
constexpr double kLeastRate = 1e-3;  // of the trade-off curve's axis; the tests have fewer runs

/// From 0 to a little beyond the maximum auditable epsilon.
std::vector<double> epsilons_for(const Audit& audit) {
  const double maximum = audit.maximum_epsilon(audit.options().delta);
  const double last = std::max(1.0, std::ceil(1.2 * maximum));
  std::vector<double> grid;
  grid.reserve(kPoints);
  for (int i = 0; i < kPoints; ++i) grid.push_back(last * i / (kPoints - 1));
  return grid;
}

/// delta(epsilon) of one side, with the weakest claim of its points.
template <class View>
Series curve(std::string key, std::string title, const std::vector<double>& epsilons, View&& view) {
  Series series{std::move(key), std::move(title), epsilons, {}};
  for (const double epsilon : epsilons) {
    const Claimed<Delta> delta = view(Epsilon(epsilon));
    series.y.push_back(delta.value.probability());
    if (series.y.size() == 1 || series.claim == Claim::exact) series.claim = delta.claim;
    series.method = delta.method;
    series.assumptions = delta.assumptions;
    series.confidence = delta.confidence;
  }
  return series;
}

Figure deltas(const std::string& policy, const PairedModels& of) {
  const std::vector<double> epsilons = epsilons_for(of.audit);
  Figure figure("sandwich_" + policy, fmt::format("delta over epsilon, {}", policy), Mark::line,
                {"epsilon"}, {"delta"});
  if (of.proven.exist()) {
    figure.add(curve("proven", "proven", epsilons, [&](Epsilon e) { return of.proven.delta(e); }));
  }
  if (of.path_kl.risk) {
    figure.add(curve("path_kl", "path KL", epsilons,
                     [&](Epsilon e) { return of.path_kl.risk->delta(e); }));
  }
  figure.add(curve("audited", "these models show", epsilons,
                   [&](Epsilon e) { return of.audit.delta(e); }));
  if (of.proven.exist()) {
    figure.set_caption(
        "Proven upper bounds and audited lower bounds: if they cross, one of them is wrong.");
  }
  return figure;
}

/// The largest true-positive rate that delta(epsilon) leaves at a false-positive rate, in both
/// directions: TPR <= delta + e^eps FPR and 1 - FPR <= delta + e^eps (1 - TPR) for every epsilon.
double largest_tpr(const Series& proven, double fpr) {
  double least = 1.0;
  for (std::size_t i = 0; i < proven.x.size(); ++i) {
    const double factor = std::exp(proven.x[i]), delta = proven.y[i];
    least = std::min({least, delta + factor * fpr, 1.0 - (1.0 - fpr - delta) / factor});
  }
  return std::max(least, fpr);  // a coin reaches the diagonal
}

Figure tradeoff(const std::string& policy, const PairedModels& of) {
  const Series proven =
      curve("proven", "", epsilons_for(of.audit), [&](Epsilon e) { return of.proven.delta(e); });
  Series most{"proven",      "no attack can be above", {}, {}, {}, Claim::upper_bound,
              proven.method, proven.assumptions};
  for (int i = 0; i < kPoints; ++i) {
    most.x.push_back(i + 1 == kPoints ? 1.0 : std::pow(kLeastRate, 1.0 - i / (kPoints - 1.0)));
    most.y.push_back(largest_tpr(proven, most.x.back()));
  }
  Series shown{"audited",
               "these models show",
               {},
               {},
               {},
               Claim::lower_bound,
               "Clopper-Pearson: the smallest TPR at the largest FPR",
               {},
               of.audit.confidence()};
  shown.mark = Mark::points;
  for (const AuditedEvent& event : of.audit.events()) {
    const RateBounds rates = rate_bounds(event.counts, event.level);
    shown.x.push_back(rates.fpr_upper);
    shown.y.push_back(rates.tpr_lower);
    shown.labels.push_back(fmt::format("score >= {:.4g}", event.threshold));
  }
  Figure figure("tradeoff_" + policy, fmt::format("Trade-off curve, {}", policy), Mark::line,
                {"false-positive rate", "", Scale::log}, {"true-positive rate", "", Scale::log});
  figure.add(std::move(most));
  figure.add(std::move(shown));
  return figure;
}

}  // namespace

void add_two_sided_figures(Document& document, const std::string& policy, const PairedModels& of) {
  document.add(deltas(policy, of));
  if (of.proven.exist()) document.add(tradeoff(policy, of));
}

}  // namespace sfumato
