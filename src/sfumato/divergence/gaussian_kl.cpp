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

double kl(const WhitenedPair& pair) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double ratio = pair.ratio(i);
    sum += psi_of_excess(-pair.excess(i) / ratio) + pair.shift(i) * pair.shift(i) / ratio;
  }
  return 0.5 * sum;
}

double renyi(const WhitenedPair& pair, double order) {
  double location = 0.0;
  double scale = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double mixed = 1.0 + order * pair.excess(i);  // V_a of Spec §2, whitened
    if (mixed <= 0.0) return kInf;
    location += pair.shift(i) * pair.shift(i) / mixed;
    scale += psi_of_excess(order * pair.excess(i)) - order * psi_of_excess(pair.excess(i));
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
