#include "sfumato/audit/credible_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numbers>
#include <vector>

namespace sfumato {
namespace {

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

struct Beta {
  double a, b;
  [[nodiscard]] double cdf(double x) const {
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    return boost::math::ibeta(a, b, x, Policy());
  }
  [[nodiscard]] double variance() const { return a * b / ((a + b) * (a + b) * (a + b + 1.0)); }
};

/// The law as weighted points: quantiles at Phi(z), Gauss-Legendre in z over +-8.
struct Node {
  double value, weight;
};
std::vector<Node> nodes_of(const Beta& law) {
  using Rule = boost::math::quadrature::gauss<double, 15>;
  constexpr int kPanels = 24;
  constexpr double kEnd = 8.0, kWidth = 2.0 * kEnd / kPanels;
  std::vector<Node> nodes;
  const auto add = [&](double z, double weight) {
    const double tail = 0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2);
    const double value = z < 0.0 ? boost::math::ibeta_inv(law.a, law.b, tail, Policy())
                                 : boost::math::ibetac_inv(law.a, law.b, tail, Policy());
    nodes.push_back({value, weight * std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi)});
  };
  for (int panel = 0; panel < kPanels; ++panel) {
    const double centre = -kEnd + (panel + 0.5) * kWidth, half = 0.5 * kWidth;
    for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
      const double offset = half * Rule::abscissa()[i], weight = half * Rule::weights()[i];
      add(centre + offset, weight);
      if (offset > 0.0) add(centre - offset, weight);
    }
  }
  double total = 0.0;
  for (const Node& node : nodes) total += node.weight;
  for (Node& node : nodes) node.weight /= total;
  return nodes;
}

/// P[eps <= e]: for x fixed the other error rate y lies between two lines each way.
double below(double e, double delta, const std::vector<Node>& nodes, const Beta& other) {
  const double ratio = std::exp(e);
  double sum = 0.0;
  for (const auto& [x, weight] : nodes) {
    // y + ratio x >= 1 - delta, x + ratio y >= 1 - delta; and with (1 - x, 1 - y) for (x, y).
    const double least = std::max(1.0 - delta - ratio * x, (1.0 - delta - x) / ratio);
    const double most = std::min(delta + ratio * (1.0 - x), 1.0 - (x - delta) / ratio);
    sum += weight * std::max(0.0, other.cdf(most) - other.cdf(least));
  }
  return sum;
}

}  // namespace

EpsilonInterval credible_epsilon(const TestCounts& counts, Delta delta, double credibility,
                                 Worlds worlds) {
  if (worlds == Worlds::coupled) {
    throw InvalidArgument("the worlds share their randomness, so their rates are not independent",
                          "Train independent worlds, or use the confidence bounds");
  }
  if (!(credibility > 0.0 && credibility < 1.0)) {
    throw InvalidArgument(fmt::format("credibility = {} is not between 0 and 1", credibility),
                          "Pass a probability such as 0.95");
  }
  if (counts.positives == 0 || counts.negatives == 0 || counts.true_positives > counts.positives ||
      counts.false_positives > counts.negatives) {
    throw InvalidArgument(
        fmt::format("{} of {} and {} of {} models are in the event", counts.true_positives,
                    counts.positives, counts.false_positives, counts.negatives),
        "Both worlds need models, and no more in the event than there are");
  }
  const auto law = [](std::uint64_t errors, std::uint64_t trials) {
    return Beta{static_cast<double>(errors) + 0.5, static_cast<double>(trials - errors) + 0.5};
  };
  Beta inner = law(counts.positives - counts.true_positives, counts.positives);
  Beta outer = law(counts.false_positives, counts.negatives);
  // The region is symmetric in both rates; the wider one inside keeps the integrand smooth.
  if (outer.variance() > inner.variance()) std::swap(inner, outer);
  const std::vector<Node> nodes = nodes_of(outer);
  const auto quantile = [&](double level) {
    if (below(0.0, delta.probability(), nodes, inner) >= level) return 0.0;
    double low = 0.0, high = 1.0;
    while (high < 600.0 && below(high, delta.probability(), nodes, inner) < level) high *= 2.0;
    for (int i = 0; i < 60 && high - low > 1e-9; ++i) {
      const double middle = 0.5 * (low + high);
      (below(middle, delta.probability(), nodes, inner) < level ? low : high) = middle;
    }
    return 0.5 * (low + high);
  };
  const double tail = 0.5 * (1.0 - credibility);
  const auto claimed = [&](double value) {
    return Claimed<Epsilon>{
        Epsilon(value),
        Claim::estimate,
        "joint beta posterior (Jeffreys), credible",
        {kIndependentModels, "the worlds are independent of each other", "the prior"},
        credibility};
  };
  return {claimed(quantile(tail)), claimed(quantile(1.0 - tail))};
}

}  // namespace sfumato
