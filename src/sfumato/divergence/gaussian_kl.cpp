#include "sfumato/divergence/gaussian_kl.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/rank_assumption.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

Claimed<Nats> exact(double value, const WhitenedPair& pair, const char* method) {
  Claimed<Nats> result{Nats{value}, Claim::exact, method};
  if (pair.used_rank_tolerance) {
    result.assumptions.emplace_back(kRankAssumption);
  }
  return result;
}

double kl(const WhitenedPair& pair) {
  require_comparable(pair);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double ratio = pair.ratio(i);
    sum += psi(1.0 / ratio, -pair.excess(i) / ratio) + pair.shift(i) * pair.shift(i) / ratio;
  }
  return 0.5 * sum;
}

/// One coordinate's [ a log(ratio) - log(mixed) ] / (a - 1), mixed = V_a of Spec §2, whitened.
double renyi_scale(double ratio, double excess, double mixed, double order) {
  // With x = (a-1)(ratio-1)/ratio it equals psi(1/ratio) + psi(1+x)/(a-1): no cancellation for
  // a > 1, where both terms are positive, nor for a -> 1, where the second vanishes like a - 1.
  const double x = (order - 1.0) * excess / ratio;
  if (order > 1.0 || std::abs(x) < 0.25) {
    return psi(1.0 / ratio, -excess / ratio) + psi(mixed / ratio, x) / (order - 1.0);
  }
  return (order * std::log(ratio) - std::log(mixed)) / (order - 1.0);
}

double renyi(const WhitenedPair& pair, double order) {
  require_comparable(pair);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double ratio = pair.ratio(i);
    const double excess = pair.excess(i);
    // A sum of positive terms for orders below one.
    const double mixed = order < 1.0 ? (1.0 - order) + order * ratio : 1.0 + order * excess;
    if (mixed <= 0.0) return kInf;
    sum += order * pair.shift(i) * pair.shift(i) / mixed + renyi_scale(ratio, excess, mixed, order);
  }
  return std::max(0.0, 0.5 * sum);
}

}  // namespace

Claimed<Nats> gaussian_kl(const WhitenedPair& pair) {
  return exact(pair.mutually_singular ? kInf : kl(pair), pair, "Gaussian KL, closed form");
}

Claimed<Nats> gaussian_renyi(const WhitenedPair& pair, double order) {
  require_positive("order", order);
  if (pair.mutually_singular) return exact(kInf, pair, "Gaussian Renyi divergence, closed form");
  if (order == 1.0) return gaussian_kl(pair);
  return exact(renyi(pair, order), pair, "Gaussian Renyi divergence, closed form");
}

double renyi_critical_order(const WhitenedPair& pair) {
  if (pair.mutually_singular) return 0.0;
  const double least = pair.excess.size() == 0 ? 0.0 : pair.excess.minCoeff();
  return least < 0.0 ? -1.0 / least : kInf;
}

bool too_far_apart(const WhitenedPair& pair) {
  constexpr double largest = 1e15;
  return !pair.mutually_singular && std::max(kl(pair), kl(swapped(pair))) > largest;
}

}  // namespace sfumato
