#include "sfumato/divergence/local_gdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {
namespace {

constexpr double kUp = 1.0 + 1e-12;

}  // namespace

double delta_bound(const LocalGdp& local, double eps) {
  const double curve = gdp_delta(local.mu, eps + std::log1p(-local.tail_prime)).delta;
  return std::min(1.0, (curve + local.tail) * kUp);
}

double epsilon_bound(const LocalGdp& local, Delta delta) {
  const double left = delta.probability() / kUp - local.tail;
  if (!(left > 0.0)) return std::numeric_limits<double>::infinity();
  return (gdp_epsilon(local.mu, Delta{left}).nats() - std::log1p(-local.tail_prime)) * kUp;
}

double tpr_bound(const LocalGdp& local, double fpr) {
  const double rate = std::min(1.0, fpr / (1.0 - local.tail_prime) * kUp);
  const double curve = gaussian_tpr(shifted_normals(local.mu), rate).value;
  return std::min(1.0, (curve + local.tail) * kUp);
}

}  // namespace sfumato
