#include "sfumato/account/lattice/discrete_noise.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {
namespace {

/// tau(x) = 2 sum_{j >= 1} e^{-2 pi^2 j^2 x^2}
double theta_tail(double x) {
  double sum = 0.0;
  for (double j = 1.0;; ++j) {
    const double term = 2.0 * std::exp(-2.0 * std::pow(std::numbers::pi * j * x, 2));
    sum += term;
    if (term <= 1e-20 * sum || term == 0.0) return sum;
  }
}

}  // namespace

DiscreteNoiseCost discrete_noise_cost(double n, double draws, double rounding) {
  require_positive("n", n);
  require_non_negative("draws", draws);
  if (!(rounding > 0.0 && rounding < n)) {
    throw InvalidArgument("rounding is not between 0 and the deviation of the noise",
                          "Use a finer grid");
  }
  const double tail = theta_tail(rounding);
  if (!(tail < 1.0)) {
    throw InvalidArgument("rounding is too small for a bound", "Choose 2");
  }
  const double ratio = rounding / n;
  return {1.0 / std::sqrt((1.0 - ratio) * (1.0 + ratio)),
          draws * (-std::log1p(-tail) + std::log1p(theta_tail(n)))};
}

double discrete_noise_factor(std::int64_t n, double draws) {
  if (n < 1024 || !(draws <= 1e12)) {
    throw InvalidArgument("the grid is coarser than 1024 to a deviation, or has over 1e12 draws",
                          "Use a finer grid or fewer steps");
  }
  return discrete_noise_cost(static_cast<double>(n), draws).mu_factor * (1.0 + 1e-12);
}

DiscreteDelta discrete_gaussian_delta(double n, std::int64_t shift, double eps, double rounding) {
  const DiscreteNoiseCost cost = discrete_noise_cost(n, 1.0, rounding);
  const double distance = std::abs(static_cast<double>(shift));
  const double mu = distance / n * cost.mu_factor;
  // The ratio e^{(2 k s - s^2) / 2 n^2} of P, centred at s, to Q exceeds e^eps above a threshold.
  double exact = 0.0;
  const auto s = std::abs(shift);
  const auto end = static_cast<std::int64_t>(distance + 40.0 * n + 2.0);
  for (std::int64_t k = -end; k <= end; ++k) {
    exact += std::max(
        0.0, discrete_gaussian_pmf(n, k - s) - std::exp(eps) * discrete_gaussian_pmf(n, k));
  }
  const double bound = std::exp(cost.log_slack) * gdp_delta(mu, eps - 2.0 * cost.log_slack).delta;
  return {exact, std::min(1.0, bound), mu};
}

double mu_of_pure_epsilon(double epsilon) {
  require_non_negative("epsilon", epsilon);
  // 1 / (1 + e^eps), which has all digits where e^eps / (1 + e^eps) is nearly 1.
  return 2.0 * std::sqrt(2.0) * boost::math::erfc_inv(2.0 / (1.0 + std::exp(epsilon)));
}

}  // namespace sfumato
