#include "sfumato/divergence/gaussian_kl.hpp"

#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Claimed<Nats> exact(double value, const WhitenedPair& pair, const char* method) {
  Claimed<Nats> result{Nats{value}, Claim::exact, method};
  if (pair.used_rank_tolerance) {
    result.assumptions.emplace_back("variances below 1e-12 of the largest count as zero");
  }
  return result;
}

/// psi(ratio) from the ratio and its excess over one, whichever holds the digits.
double psi(double ratio, double excess) {
  return excess < -0.5 ? excess - std::log(ratio) : psi_of_excess(excess);
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

double renyi(const WhitenedPair& pair, double order) {
  require_comparable(pair);
  double location = 0.0;
  double scale = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double ratio = pair.ratio(i);
    const double excess = pair.excess(i);
    // V_a of Spec §2, whitened; a sum of positive terms for orders below one.
    const double mixed = order < 1.0 ? (1.0 - order) + order * ratio : 1.0 + order * excess;
    if (mixed <= 0.0) return kInf;
    location += pair.shift(i) * pair.shift(i) / mixed;
    // a log(ratio) - log(mixed), which cancels in its first order for ratios near one.
    scale += std::abs(excess) < 0.25 && std::abs(order * excess) < 0.25
                 ? psi_of_excess(order * excess) - order * psi_of_excess(excess)
                 : order * std::log(ratio) - std::log(mixed);
  }
  return std::max(0.0, 0.5 * order * location + scale / (2.0 * (order - 1.0)));
}

}  // namespace

Claimed<Nats> gaussian_kl(const WhitenedPair& pair) {
  return exact(pair.mutually_singular ? kInf : kl(pair), pair, "Gaussian KL, closed form");
}

Claimed<Nats> gaussian_renyi(const WhitenedPair& pair, double order) {
  require_positive("order", order);
  if (pair.mutually_singular) return exact(kInf, pair, "Gaussian Renyi divergence, closed form");
  if (std::abs(order - 1.0) < 1e-6) return gaussian_kl(pair);
  return exact(renyi(pair, order), pair, "Gaussian Renyi divergence, closed form");
}

}  // namespace sfumato
