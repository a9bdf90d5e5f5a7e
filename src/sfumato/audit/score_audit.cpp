#include "sfumato/audit/score_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sfumato/audit/threshold_choice.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

/// How many models may lie on the wrong side, as shares of a world. Few, because each costs a part of
/// the level: with 100 models per data set a perfect attack shows eps = 2.82 with all of these, 3.28 with a
/// threshold that was known before.
constexpr double kRankShares[] = {0.0, 0.01, 0.05, 0.2};

/// What ranks get of the level of `combined`; a held-out threshold has the rest. Ranks are within a tenth of
/// the best threshold where scores are continuous, and may see nothing where they take a few values, as
/// those of randomised response; a held-out threshold is the other way round. Shares of 0.75 and 0.8
/// differ by 0.02 (Gaussian, Laplace and binary scores, 20 to 5,000 models).
constexpr double kRanksOfCombined = 0.8;

std::vector<std::uint64_t> ranks_of(std::uint64_t models) {
  std::vector<std::uint64_t> ranks;
  for (const double share : kRankShares) {
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(models));
    if (ranks.empty() || rank != ranks.back()) ranks.push_back(rank);
  }
  return ranks;
}

/// Tests at ranks that depend on nothing but the number of models, valid though their thresholds are
/// scores, and though worlds may share seeds:
///
/// Let T be the (k+1)-th largest score without the record, u = CP_upper(k, n0, a), and t* the least t
/// with P[S > t] <= u there. T < t* needs at most k of n0 scores at or above t*, each of which is so
/// with probability u or more; that has probability a at most. Otherwise T >= t*, and the number k1
/// of models with the record above T is at most the number above t*, a fixed event. So
///   P[above t*] >= CP_lower(k1, n1, a) with the record,   P[above t*] <= u without,
/// both except with probability 2a: the bounds of Spec §11.3 for the event "above t*", of which we
/// know all we need. The same with both worlds and the order exchanged. Equal scores are never above one
/// another, so ties count against the attack.
void add_rank_events(std::size_t index, const ScoreSample& sample, double alpha,
                     std::vector<AuditedEvent>& events) {
  const std::uint64_t n1 = sample.with.size(), n0 = sample.without.size();
  const std::vector<std::uint64_t> of_without = ranks_of(n0), of_with = ranks_of(n1);
  const double level = alpha / static_cast<double>(of_without.size() + of_with.size());
  std::vector<double> without = sample.without;
  std::sort(without.begin(), without.end(), std::greater<>());
  for (const std::uint64_t k : of_without) {
    const double limit = without[k];
    const auto hits = std::count_if(sample.with.begin(), sample.with.end(),
                                    [limit](double score) { return score > limit; });
    events.push_back({index,
                      std::nextafter(limit, HUGE_VAL),
                      {static_cast<std::uint64_t>(hits), n1, k, n0},
                      ThresholdStrategy::ranks,
                      level});
  }
  std::vector<double> with = sample.with;
  std::sort(with.begin(), with.end());
  for (const std::uint64_t k : of_with) {
    const double limit = with[k];
    const auto alarms = std::count_if(sample.without.begin(), sample.without.end(),
                                      [limit](double score) { return score >= limit; });
    events.push_back({index,
                      limit,
                      {n1 - k, n1, static_cast<std::uint64_t>(alarms), n0},
                      ThresholdStrategy::ranks,
                      level});
  }
}

/// Returns how many models chose the threshold.
std::uint64_t add_held_out_event(std::size_t index, const ScoreSample& sample,
                                 const AuditOptions& options, double alpha,
                                 std::vector<AuditedEvent>& events) {
  const SplitSample parts = split(sample, options.choosing_fraction, options.seed);
  const double threshold = best_threshold(parts.choosing, options.delta, alpha);
  events.push_back(
      {index, threshold, counts_from(parts.fresh, threshold), ThresholdStrategy::held_out, alpha});
  return parts.choosing.with.size() + parts.choosing.without.size();
}

/// The same tests as planned for an attack of these rates. Of a rank only the rates on its side are known,
/// so the next rank at which the attack is as good is taken.
void plan_ranks(std::uint64_t models, const AttackRates& attack, double alpha,
                std::vector<PlannedTest>& tests) {
  const TestCounts expected = expected_counts(models, attack);
  const std::vector<std::uint64_t> ranks = ranks_of(models);
  const double level = alpha / (2.0 * static_cast<double>(ranks.size()));
  const auto at_least = [&](std::uint64_t count) {
    return std::lower_bound(ranks.begin(), ranks.end(), count);
  };
  if (const auto k = at_least(expected.false_positives); k != ranks.end()) {
    tests.push_back({{expected.true_positives, models, *k, models}, level});
  }
  if (const auto k = at_least(models - expected.true_positives); k != ranks.end()) {
    tests.push_back({{models - *k, models, expected.false_positives, models}, level});
  }
}

void plan_held_out(std::uint64_t models, const AttackRates& attack, double fraction, double alpha,
                   std::vector<PlannedTest>& tests) {
  const std::uint64_t fresh = models - choosing_models(models, fraction);
  if (fresh != 0) tests.push_back({expected_counts(fresh, attack), alpha});
}

void check(std::span<const ScoreSample> samples, const AuditOptions& options, const Where& where) {
  if (samples.empty()) throw InvalidArgument("there is nothing to audit", "Pass scores", where);
  for (const ScoreSample& sample : samples) require_scores(sample, where);
  if (options.strategy != ThresholdStrategy::fixed) return;
  if (options.thresholds.empty()) {
    throw InvalidArgument("no threshold is given", "Pass one that was chosen before", where);
  }
  for (const double threshold : options.thresholds) {
    if (std::isnan(threshold)) {
      throw InvalidArgument("a threshold is NaN", "Pass numbers", where);
    }
  }
}

}  // namespace

std::string_view name(ThresholdStrategy strategy) {
  switch (strategy) {
    case ThresholdStrategy::combined: return "combined";
    case ThresholdStrategy::held_out: return "held-out";
    case ThresholdStrategy::ranks: return "ranks";
    case ThresholdStrategy::fixed: return "fixed";
  }
  throw InternalError("unknown threshold strategy");
}

double level_of_look(double alpha, std::uint64_t look) {
  if (look == 0) throw InvalidArgument("look = 0", "Interim looks count from 1");
  const auto number = static_cast<double>(look);
  return alpha / (number * (number + 1.0));
}

double level_of(const AuditOptions& options) {
  if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", options.confidence),
                          "Pass a probability such as 0.95");
  }
  if (options.audits == 0) throw InvalidArgument("audits = 0", "Count this one");
  const double alpha = (1.0 - options.confidence) / static_cast<double>(options.audits);
  const double spent = level_of_look(alpha, options.look);
  return options.look > 1 || options.more_looks ? spent : alpha;
}

Audit audit_scores(std::span<const ScoreSample> samples, const AuditOptions& options) {
  check(samples, options, Where::here());
  Audit audit;
  audit.options_ = options;
  audit.samples_ = samples.size();
  const double alpha = level_of(options) / static_cast<double>(samples.size());
  audit.assumptions_ = {kIndependentModels};
  std::uint64_t choosing = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    switch (options.strategy) {
      case ThresholdStrategy::combined:
        add_rank_events(i, samples[i], kRanksOfCombined * alpha, audit.events_);
        choosing = add_held_out_event(i, samples[i], options, (1.0 - kRanksOfCombined) * alpha,
                                      audit.events_);
        break;
      case ThresholdStrategy::held_out:
        choosing = add_held_out_event(i, samples[i], options, alpha, audit.events_);
        break;
      case ThresholdStrategy::ranks: add_rank_events(i, samples[i], alpha, audit.events_); break;
      case ThresholdStrategy::fixed:
        for (const double threshold : options.thresholds) {
          audit.events_.push_back({i, threshold, counts_from(samples[i], threshold),
                                   ThresholdStrategy::fixed,
                                   alpha / static_cast<double>(options.thresholds.size())});
        }
        break;
    }
  }
  for (const AuditedEvent& event : audit.events_) {
    audit.rates_.push_back(rate_bounds(event.counts, event.level));
  }
  audit.method_ = "two Clopper-Pearson intervals, union bound";
  const auto ranks =
      std::count_if(audit.events_.begin(), audit.events_.end(), [](const AuditedEvent& event) {
        return event.sample == 0 && event.origin == ThresholdStrategy::ranks;
      });
  switch (options.strategy) {
    case ThresholdStrategy::combined:
      audit.method_ += fmt::format(
          "; {:g} % of the level divided by {} ranks, the rest for a threshold chosen on {} other "
          "models",
          100.0 * kRanksOfCombined, ranks, choosing);
      break;
    case ThresholdStrategy::held_out:
      audit.method_ += fmt::format("; threshold chosen on {} other models", choosing);
      break;
    case ThresholdStrategy::ranks:
      audit.method_ += fmt::format("; level divided by {} ranks", ranks);
      break;
    case ThresholdStrategy::fixed:
      audit.assumptions_.emplace_back(
          "the thresholds were fixed before these scores were looked at");
      if (options.thresholds.size() > 1) {
        audit.method_ += fmt::format("; level divided by {} thresholds", options.thresholds.size());
      }
      break;
  }
  if (samples.size() > 1) audit.method_ += fmt::format("; divided by {} samples", samples.size());
  if (options.audits > 1) audit.method_ += fmt::format("; divided by {} audits", options.audits);
  if (options.look > 1 || options.more_looks) {
    audit.method_ += fmt::format("; interim look {} of any number", options.look);
  } else {
    audit.assumptions_.emplace_back("the number of models was fixed before scores were first seen");
  }
  return audit;
}

Claimed<Epsilon> Audit::epsilon(Delta delta) const {
  double best = 0.0;
  for (const RateBounds& rates : rates_) best = std::max(best, epsilon_lower(rates, delta));
  return {Epsilon(best), Claim::lower_bound, method_, assumptions_, options_.confidence};
}

Claimed<Delta> Audit::delta(Epsilon epsilon) const {
  double best = 0.0;
  for (const RateBounds& rates : rates_) best = std::max(best, delta_lower(rates, epsilon));
  return {Delta(best), Claim::lower_bound, method_, assumptions_, options_.confidence};
}

Claimed<double> Audit::mu() const {
  double best = 0.0;
  for (const RateBounds& rates : rates_) best = std::max(best, mu_lower(rates));
  std::vector<std::string> assumptions = assumptions_;
  assumptions.emplace_back(kAssumesGdp);
  return {best, Claim::lower_bound, method_, assumptions, options_.confidence};
}

Claimed<Epsilon> Audit::epsilon_if_gdp(Delta delta) const {
  return map(mu(), [delta](double value) {
    // Root finding may end above the root.
    return Epsilon(gdp_epsilon(value, delta).nats() * (1.0 - 1e-9));
  });
}

double Audit::maximum_epsilon(Delta delta) const {
  double largest = 0.0;
  for (const AuditedEvent& event : events_) {
    const TestCounts& c = event.counts;
    const RateBounds perfect = rate_bounds({c.positives, c.positives, 0, c.negatives}, event.level);
    largest = std::max(largest, epsilon_lower(perfect, delta));
  }
  return largest;
}

std::optional<std::uint64_t> Audit::runs_to_refute(Epsilon epsilon, Delta delta,
                                                   const AttackRates& attack) const {
  const double alpha = level_of(options_) / static_cast<double>(samples_);
  return sfumato::runs_to_refute(epsilon, delta, [&](std::uint64_t models) {
    std::vector<PlannedTest> tests;
    switch (options_.strategy) {
      case ThresholdStrategy::combined:
        if (models < 2) break;
        plan_ranks(models, attack, kRanksOfCombined * alpha, tests);
        plan_held_out(models, attack, options_.choosing_fraction, (1.0 - kRanksOfCombined) * alpha,
                      tests);
        break;
      case ThresholdStrategy::held_out:
        plan_held_out(models, attack, options_.choosing_fraction, alpha, tests);
        break;
      case ThresholdStrategy::ranks: plan_ranks(models, attack, alpha, tests); break;
      case ThresholdStrategy::fixed:
        tests.push_back({expected_counts(models, attack),
                         alpha / static_cast<double>(options_.thresholds.size())});
        break;
    }
    return tests;
  });
}

}  // namespace sfumato
