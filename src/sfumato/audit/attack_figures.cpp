#include "sfumato/audit/attack_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/audit/roc.hpp"

namespace sfumato {
namespace {

constexpr int kPoints = 61;
constexpr std::size_t kMostBands = 2;  // intervals of more curves would hide one another

std::string claim_title(const ClaimedGuarantee& claim) {
  return fmt::format("allowed by eps = {:g}, delta = {:g}", claim.epsilon.nats(),
                     claim.delta.probability());
}

std::string key_of(const std::string& name) {
  std::string key = name;
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == ' ' || c == '-' || c == ','; }, '_');
  return key;
}

Series curve_of(const NamedAttack& attack, const Roc& roc, double confidence, bool band) {
  Series series{key_of(attack.name), attack.name, {}, {}, {}, Claim::estimate, "empirical ROC"};
  Intervals intervals;
  for (const RocPoint& point : roc.thinned(200)) {
    series.x.push_back(roc.fpr(point));
    series.y.push_back(roc.tpr(point));
    if (!band) continue;
    const ProbabilityInterval interval =
        clopper_pearson(point.true_positives, roc.members(), confidence);
    intervals.low.push_back(interval.lower);
    intervals.high.push_back(interval.upper);
  }
  if (band) {
    series.method += ", with the Clopper-Pearson interval of each true-positive rate by itself";
    series.confidence = confidence;
    series.y_intervals = std::move(intervals);
  }
  return series;
}

constexpr std::size_t kMostTests = 8;

/// The events that show most, the first of them most of all.
std::vector<AuditedEvent> strongest(const Audit& audit, std::size_t most) {
  std::vector<AuditedEvent> events = audit.events();
  const auto shown = [&](const AuditedEvent& event) {
    return epsilon_lower(rate_bounds(event.counts, event.level), audit.options().delta);
  };
  std::stable_sort(events.begin(), events.end(), [&](const AuditedEvent& a, const AuditedEvent& b) {
    return shown(a) > shown(b);
  });
  if (events.size() > most)
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(most), events.end());
  return events;
}

/// Tested events, each at the corner of its intervals that the bound is made of.
Series tests_of(const NamedAudit& of, std::size_t most) {
  Series series{"tested" + (of.name.empty() ? "" : "_" + key_of(of.name)),
                of.name.empty() ? "tested thresholds" : fmt::format("tested, {}", of.name),
                {},
                {},
                {},
                Claim::lower_bound,
                "Clopper-Pearson: the smallest TPR at the largest FPR",
                {},
                of.audit->confidence()};
  series.mark = Mark::points;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  Intervals xs, ys;
  for (const AuditedEvent& event : strongest(*of.audit, most)) {
    const RateBounds rates = rate_bounds(event.counts, event.level);
    const TestCounts& n = event.counts;
    series.x.push_back(rates.fpr_upper);
    series.y.push_back(rates.tpr_lower);
    series.labels.push_back(fmt::format("{} of {} on D, {} of {} on D'", n.true_positives,
                                        n.positives, n.false_positives, n.negatives));
    xs.low.push_back(std::min(share(n.false_positives, n.negatives), rates.fpr_upper));
    xs.high.push_back(rates.fpr_upper);
    ys.low.push_back(rates.tpr_lower);
    ys.high.push_back(std::max(share(n.true_positives, n.positives), rates.tpr_lower));
  }
  series.x_intervals = std::move(xs);
  series.y_intervals = std::move(ys);
  return series;
}

}  // namespace

Series claimed_rates(const ClaimedGuarantee& claim, double least) {
  const double factor = std::exp(claim.epsilon.nats()), delta = claim.delta.probability();
  Series series{"claim",
                claim_title(claim),
                {},
                {},
                {},
                Claim::upper_bound,
                "every attack on a mechanism that keeps the claim is below"};
  series.mark = Mark::region;
  for (int i = 0; i < kPoints; ++i) {
    const double fpr = i + 1 == kPoints ? 1.0 : std::pow(least, 1.0 - i / (kPoints - 1.0));
    series.x.push_back(fpr);
    series.y.push_back(
        std::clamp(std::min(delta + factor * fpr, 1.0 - (1.0 - delta - fpr) / factor), 0.0, 1.0));
  }
  return series;
}

Series claimed_deltas(const ClaimedGuarantee& claim, const std::vector<double>& epsilons) {
  const double factor = std::exp(claim.epsilon.nats()), delta = claim.delta.probability();
  Series series{"claim",
                claim_title(claim),
                epsilons,
                {},
                {},
                Claim::upper_bound,
                "what the claim implies at every epsilon"};
  series.mark = Mark::region;
  for (const double epsilon : epsilons) {
    series.y.push_back(delta +
                       (1.0 - delta) * std::max(0.0, factor - std::exp(epsilon)) / (1.0 + factor));
  }
  return series;
}

Series largest_deltas(const Audit& audit, const std::vector<double>& epsilons) {
  Series series{"maximum",
                "most these models can show",
                epsilons,
                {},
                {},
                Claim::exact,
                "an attack without errors on this many models"};
  for (const double epsilon : epsilons) {
    double largest = 0.0;
    for (const AuditedEvent& event : audit.events()) {
      const TestCounts& n = event.counts;
      const RateBounds perfect =
          rate_bounds({n.positives, n.positives, 0, n.negatives}, event.level);
      largest = std::max(largest, delta_lower(perfect, Epsilon(epsilon)));
    }
    series.y.push_back(largest);
  }
  return series;
}

std::vector<double> epsilons_for(const Audit& audit, const std::optional<ClaimedGuarantee>& claim) {
  double last = std::max(1.0, std::ceil(1.2 * audit.maximum_epsilon(audit.options().delta)));
  if (claim) last = std::clamp(std::ceil(1.2 * claim->epsilon.nats()), last, 4.0 * last);
  std::vector<double> grid;
  grid.reserve(kPoints);
  for (int i = 0; i < kPoints; ++i) grid.push_back(last * i / (kPoints - 1));
  return grid;
}

Figure roc_figure(const std::vector<NamedAttack>& attacks, double confidence,
                  const std::optional<ClaimedGuarantee>& claim,
                  const std::vector<NamedAudit>& audits) {
  std::vector<std::pair<const NamedAttack*, Roc>> curves;
  std::uint64_t most = 1;
  for (const NamedAttack& attack : attacks) {
    if (!attack.problem.empty()) continue;
    curves.emplace_back(&attack, Roc(attack.scores));
    most = std::max({most, curves.back().second.members(), curves.back().second.non_members()});
  }
  const double least = 1.0 / (2.0 * static_cast<double>(most));
  const auto rate = [&](const char* title) {
    Axis axis{title, "", Scale::log};
    axis.from = least;
    axis.to = 1.0;
    return axis;
  };
  Figure figure("roc", "ROC", Mark::steps, rate("false-positive rate"), rate("true-positive rate"));
  if (claim) figure.add(claimed_rates(*claim, least));
  for (const auto& [attack, roc] : curves) {
    figure.add(curve_of(*attack, roc, confidence, curves.size() <= kMostBands));
  }
  for (const NamedAudit& audit : audits) {
    figure.add(tests_of(audit, audits.size() == 1 ? kMostTests : 1));
  }
  const Text region =
      claim ? "A mechanism that keeps the claim keeps every attack inside the shaded region." : "";
  const Text corner =
      audits.empty()
          ? Text()
          : say("A box is the confidence region of a tested threshold; its lower right corner {}.",
                claim ? "outside the region refutes the claim" : "is what the bounds are made of");
  if (claim || !audits.empty()) {
    figure.set_caption(say("{}{}{}", region, claim && !audits.empty() ? " " : "", corner));
  } else {
    figure.set_caption(
        "How many members an attack finds against how many others it takes for members; it finds "
        "more the further it is above the line of a coin toss.");
  }
  return figure;
}

}  // namespace sfumato
