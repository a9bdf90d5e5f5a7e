#include "sfumato/audit/lower_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

// Of the logarithm, the exponential and the subtractions; the rates are already rounded.
constexpr double kRounding = 1e-14;

double log_ratio(double numerator, double denominator) {
  if (!(numerator > 0.0)) return 0.0;
  // Clopper-Pearson never gives a denominator of 0.
  return std::log(numerator / denominator) - kRounding;
}

/// Phi^{-1}(p), from whichever of p and 1 - p is small.
double normal_quantile(double p, double complement) {
  if (p == 0.0) return -std::numeric_limits<double>::infinity();
  if (complement == 0.0) return std::numeric_limits<double>::infinity();
  return p < complement ? -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p)
                        : std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * complement);
}

double alpha_of(double confidence, const Where& where) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95", where);
  }
  return 1.0 - confidence;
}

constexpr const char* kMethod = "two Clopper-Pearson intervals, union bound";
constexpr const char* kFixedEvent = "the event was fixed before these models were looked at";

}  // namespace

RateBounds rate_bounds(const TestCounts& counts, double alpha) {
  const double tail = 0.5 * alpha;
  const std::uint64_t k1 = counts.true_positives, n1 = counts.positives;
  const std::uint64_t k0 = counts.false_positives, n0 = counts.negatives;
  const double tpr = clopper_pearson_lower(k1, n1, tail);
  const double fpr = clopper_pearson_upper(k0, n0, tail);
  return {tpr, clopper_pearson_upper(n1 - k1, n1, tail), fpr,
          clopper_pearson_lower(n0 - k0, n0, tail)};
}

double epsilon_lower(const RateBounds& rates, Delta delta) {
  const double d = delta.probability();
  return std::max({0.0, log_ratio(rates.tpr_lower - d, rates.fpr_upper),
                   log_ratio(rates.tnr_lower - d, rates.fnr_upper)});
}

double delta_lower(const RateBounds& rates, Epsilon epsilon) {
  const double ratio = std::exp(epsilon.nats()) * (1.0 + kRounding);
  return std::max(
      {0.0, rates.tpr_lower - ratio * rates.fpr_upper, rates.tnr_lower - ratio * rates.fnr_upper});
}

double mu_lower(const RateBounds& rates) {
  if (rates.tpr_lower == 0.0 || rates.tnr_lower == 0.0) return 0.0;
  const double gap = normal_quantile(rates.tpr_lower, rates.fnr_upper) -
                     normal_quantile(rates.fpr_upper, rates.tnr_lower);
  return std::max(0.0, gap * (1.0 - 1e-12));
}

Claimed<Epsilon> epsilon_lower_bound(const TestCounts& counts, Delta delta, double confidence) {
  const double alpha = alpha_of(confidence, Where::here());
  return {Epsilon(epsilon_lower(rate_bounds(counts, alpha), delta)),
          Claim::lower_bound,
          kMethod,
          {kIndependentModels, kFixedEvent},
          confidence};
}

Claimed<Delta> delta_lower_bound(const TestCounts& counts, Epsilon epsilon, double confidence) {
  const double alpha = alpha_of(confidence, Where::here());
  return {Delta(delta_lower(rate_bounds(counts, alpha), epsilon)),
          Claim::lower_bound,
          kMethod,
          {kIndependentModels, kFixedEvent},
          confidence};
}

Claimed<double> mu_lower_bound(const TestCounts& counts, double confidence) {
  const double alpha = alpha_of(confidence, Where::here());
  return {mu_lower(rate_bounds(counts, alpha)),
          Claim::lower_bound,
          kMethod,
          {kIndependentModels, kFixedEvent, kAssumesGdp},
          confidence};
}

double maximum_epsilon(std::uint64_t runs, Delta delta, double alpha) {
  return epsilon_lower(rate_bounds({runs, runs, 0, runs}, alpha), delta);
}

TestCounts expected_counts(std::uint64_t models, const AttackRates& attack) {
  require_probability("attack.tpr", attack.tpr);
  require_probability("attack.fpr", attack.fpr);
  const auto n = static_cast<double>(models);
  return {static_cast<std::uint64_t>(std::floor(n * attack.tpr)), models,
          static_cast<std::uint64_t>(std::ceil(n * attack.fpr)), models};
}

std::optional<std::uint64_t> runs_to_refute(
    Epsilon epsilon, Delta delta,
    const std::function<std::vector<PlannedTest>(std::uint64_t models)>& plan) {
  const auto refutes = [&](std::uint64_t models) {
    const std::vector<PlannedTest> tests = plan(models);
    return std::any_of(tests.begin(), tests.end(), [&](const PlannedTest& test) {
      return epsilon_lower(rate_bounds(test.counts, test.alpha), delta) > epsilon.nats();
    });
  };
  constexpr std::uint64_t kMost = 10'000'000, kFew = 400;
  std::uint64_t enough = 1;
  while (!refutes(enough)) {
    if (enough >= kMost) return std::nullopt;
    enough *= 2;
  }
  std::uint64_t too_few = enough / 2;  // 0 when one is enough
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (refutes(middle) ? enough : too_few) = middle;
  }
  // Among few models one more can mean another test, and a smaller level for each.
  for (std::uint64_t few = 1; few < std::min(enough, kFew); ++few) {
    if (refutes(few)) return few;
  }
  return enough;
}

}  // namespace sfumato
