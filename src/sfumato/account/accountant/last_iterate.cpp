#include "sfumato/account/accountant/last_iterate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"

namespace sfumato {
namespace {

void require_maps(double sensitivity, double lipschitz) {
  if (!(std::isfinite(sensitivity) && sensitivity >= 0.0)) {
    throw InvalidArgument(fmt::format("sensitivity = {} is not a finite number >= 0", sensitivity),
                          "Pass what one step moves at most, in deviations of its noise",
                          Where::key("sensitivity"));
  }
  if (!(lipschitz >= 0.0 && lipschitz <= 1.0)) {
    throw InvalidArgument(
        fmt::format("lipschitz = {} is not in [0, 1]", lipschitz),
        "Pass a proven constant of both maps; without one account for every step instead",
        Where::key("lipschitz"));
  }
}

void require_count(const char* key, std::uint64_t count) {
  if (count >= 1) return;
  throw InvalidArgument(fmt::format("{} = 0 releases nothing", key), "Pass 1 or more",
                        Where::key(key));
}

/// 1 - c^n, with the digits of 1 - c where c is near 1.
double one_minus_power(double c, double n) {
  return c == 0.0 ? 1.0 : -std::expm1(n * std::log1p(-(1.0 - c)));
}

/// (1 - c^n) / (1 - c), n for c = 1: sum of c^i for i < n.
double geometric(double c, double n) { return c == 1.0 ? n : one_minus_power(c, n) / (1.0 - c); }

Claimed<double> claimed(double mu, const char* method) {
  return {
      mu * (1.0 + 64.0 * kUnit),
      Claim::upper_bound,
      method,
      {"every map is Lipschitz with the given constant, and only the last iterate is released"}};
}

}  // namespace

Claimed<double> last_iterate_mu(double sensitivity, double lipschitz, std::uint64_t steps) {
  require_maps(sensitivity, lipschitz);
  require_count("steps", steps);
  return claimed(noisy_gd_gdp(sensitivity, lipschitz, static_cast<double>(steps)).mu.value,
                 "last iterate of noisy gradient descent");
}

Claimed<double> cyclic_last_iterate_mu(double sensitivity, double lipschitz, std::uint64_t batches,
                                       std::uint64_t epochs) {
  require_maps(sensitivity, lipschitz);
  require_count("batches", batches);
  require_count("epochs", epochs);
  const auto l = static_cast<double>(batches);
  const double before = static_cast<double>(epochs) - 1.0, c = lipschitz;
  double earlier = 0.0;  // what the uses before the last epoch add
  if (c == 1.0) {
    earlier = before / l;
  } else if (before > 0.0) {
    const double cycle = one_minus_power(c, l), all = one_minus_power(c, l * before);
    earlier = (batches == 1 ? 1.0 : std::pow(c, 2.0 * l - 2.0)) * one_minus_power(c, 2.0) /
              (cycle * cycle) * all / (2.0 - all);
  }
  return claimed(sensitivity * std::sqrt(1.0 + earlier), "last iterate, batches in a fixed order");
}

Claimed<double> projected_last_iterate_mu(double sensitivity, double lipschitz, std::uint64_t steps,
                                          double diameter) {
  require_maps(sensitivity, lipschitz);
  require_count("steps", steps);
  if (!(std::isfinite(diameter) && diameter >= 0.0)) {
    throw InvalidArgument(fmt::format("diameter = {} is not a finite number >= 0", diameter),
                          "Pass the diameter in deviations of the noise", Where::key("diameter"));
  }
  const double c = lipschitz, k = static_cast<double>(steps);
  const auto mu = [&](double t) {
    const double apart = t < k ? std::pow(c, t) * diameter : 0.0;
    return (apart + sensitivity * geometric(c, t)) / std::sqrt(geometric(c * c, t));
  };
  // Every t gives a bound. The best is sought on a grid of ratio 1.001, all small t among it, and about the best of the grid.
  double best = mu(k), at = k;
  const auto look = [&](double t) {
    if (const double value = mu(t); value < best) {
      best = value;
      at = t;
    }
  };
  for (double t = 1.0; t < k; t = std::max(t + 1.0, std::floor(1.001 * t))) look(t);
  const double from = std::max(1.0, std::floor(at / 1.002)),
               to = std::min(k, std::ceil(at * 1.002));
  const double stride = std::max(1.0, std::floor((to - from) / 10000.0));
  for (double t = from; t <= to; t += stride) look(t);
  return claimed(best, "last iterate of projected noisy gradient descent");
}

}  // namespace sfumato
