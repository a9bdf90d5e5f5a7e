#include "lab/audit/two_sided_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/audit/attack_figures.hpp"
#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato::lab {
namespace {

constexpr int kPoints = 41;
constexpr double kLeastRate = 1e-3;  // of the trade-off curve's axis; the tests have fewer runs

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

Text without_claim() {
  return say("No {} below what these models show can hold, at the stated confidence.",
             Maths{"(eps, delta)"});
}

Figure empty_delta_figure() {
  return Figure("deltas", "delta over epsilon", Mark::line, {"epsilon"}, {"delta"});
}

bool is_zero(const Series& series) {
  return std::all_of(series.y.begin(), series.y.end(), [](double y) { return y == 0.0; });
}

std::string quoted(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "audited" of one policy, "audited, isotropic" of several.
std::string titled(const char* what, const std::string& policy, bool several) {
  return several ? fmt::format("{}, {}", what, policy) : std::string(what);
}

void add_curves(Figure& figure, const std::string& policy, const PairedModels& of,
                const std::vector<double>& epsilons, bool several,
                std::vector<std::string>& nothing) {
  const std::string suffix = several ? "_" + policy : "";
  if (of.proven.exist()) {
    figure.add(curve("proven" + suffix, titled("proven", policy, several), epsilons,
                     [&](Epsilon e) { return of.proven.delta(e); }));
  }
  if (of.path_kl.risk && !several) {
    figure.add(curve("path_kl", "path KL", epsilons,
                     [&](Epsilon e) { return of.path_kl.risk->delta(e); }));
  }
  Series shown = curve("audited" + suffix, titled("these models show", policy, several), epsilons,
                       [&](Epsilon e) { return of.audit.delta(e); });
  if (is_zero(shown)) {
    nothing.push_back(policy);
  } else {
    figure.add(std::move(shown));
  }
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
  const Series proven = curve("proven", "", epsilons_for(of.audit, std::nullopt),
                              [&](Epsilon e) { return of.proven.delta(e); });
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
  const auto rate = [](const char* title) {
    Axis axis{title, "", Scale::log};
    axis.from = kLeastRate;
    axis.to = 1.0;
    return axis;
  };
  Figure figure("tradeoff_" + policy, fmt::format("Trade-off curve, {}", policy), Mark::line,
                rate("false-positive rate"), rate("true-positive rate"));
  figure.set_caption("What is proven leaves the region below the curve to attacks.");
  figure.add(std::move(most));
  figure.add(std::move(shown));
  return figure;
}

/// A sentence for each thing that the figure of all policies has.
Text caption_of(bool claim, bool proven, bool several, const std::vector<std::string>& nothing) {
  std::vector<Text> sentences;
  if (claim) sentences.emplace_back("A lower bound above the shaded region refutes the claim.");
  if (proven) {
    sentences.emplace_back(
        "Proven upper bounds and audited lower bounds: if they cross, one of them is wrong.");
  }
  if (!nothing.empty()) {
    sentences.push_back(
        several ? say("Nothing is shown of {}: its bound is 0 at every epsilon.", quoted(nothing))
                : Text("These models show nothing: the bound is 0 at every epsilon."));
  }
  if (sentences.empty()) return without_claim();
  Text caption;
  for (const Text& sentence : sentences)
    caption += caption.empty() ? sentence : say(" {}", sentence);
  return caption;
}

}  // namespace

Figure delta_figure(const Audit& audit, const std::optional<ClaimedGuarantee>& claim) {
  const std::vector<double> epsilons = epsilons_for(audit, claim);
  Figure figure = empty_delta_figure();
  if (claim) figure.add(claimed_deltas(*claim, epsilons));
  figure.add(
      curve("audited", "these models show", epsilons, [&](Epsilon e) { return audit.delta(e); }));
  figure.add(largest_deltas(audit, epsilons));
  figure.set_caption(claim ? Text("A lower bound above the shaded region refutes the claim.")
                           : without_claim());
  return figure;
}

void add_two_sided_figures(Document& document, const LedgerAudit& audit) {
  const std::optional<ClaimedGuarantee> claim =
      audit.claims.empty() ? std::nullopt : std::optional(audit.claims.front());
  const auto& first = std::get<PairedModels>(audit.policies.front().models);
  const std::vector<double> epsilons = epsilons_for(first.audit, claim);
  const bool several = audit.policies.size() > 1;
  Figure figure = empty_delta_figure();
  if (claim) figure.add(claimed_deltas(*claim, epsilons));
  std::vector<std::string> nothing;
  bool proven = false;
  for (const PolicyAudit& policy : audit.policies) {
    const auto& of = std::get<PairedModels>(policy.models);
    proven = proven || of.proven.exist();
    add_curves(figure, policy.policy, of, epsilons, several, nothing);
  }
  figure.add(largest_deltas(first.audit, epsilons));
  figure.set_caption(caption_of(claim.has_value(), proven, several, nothing));
  document.add(std::move(figure));
  for (const PolicyAudit& policy : audit.policies) {
    const auto& of = std::get<PairedModels>(policy.models);
    if (of.proven.exist()) document.add(tradeoff(policy.policy, of));
  }
}

}  // namespace sfumato::lab
