#include "sfumato/risk/chain_convexity.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/sde/chain_distribution.hpp"

namespace sfumato {
namespace {

constexpr double kUp = 1.0 + 1e-12;  // over the rounding of at most kPanels sums
constexpr double kPanels = 1000.0;
const char* const kMethod = "convexity constants, last iterate of the chain";

/// a * b, where nothing times infinity is nothing.
double times(double a, double b) { return a == 0.0 ? 0.0 : a * b; }

/// d_j^2 as a function of j, monotone.
struct SquaredGap {
  double lipschitz;   ///< L_D
  double gradient;    ///< G_*
  double scale;       ///< eta / sigma^2
  double complement;  ///< 1 - c^2 of the first chain's step
  double start;       ///< u_0
  double noise;       ///< d eta sigma^2

  [[nodiscard]] double of_distance(double u) const {
    const double gap = times(lipschitz, std::sqrt(u)) + gradient;
    return scale * gap * gap;
  }
  [[nodiscard]] double at(double j) const {
    return of_distance(times(start, power_of_complement(complement, j)) +
                       noise * geometric_sum(complement, j));
  }
  [[nodiscard]] double limit() const {
    return of_distance(complement > 0.0 ? noise / complement : kInf);
  }
};

/// sum_j c^{k-1-j} d_j^2, rounded up; finite k.
double weighted_sum(const SquaredGap& gap, double c, double steps) {
  const double length = std::max(1.0, std::ceil(steps / kPanels));
  const auto panels = static_cast<int>(std::ceil(steps / length));
  double sum = 0.0;
  for (int panel = 0; panel < panels; ++panel) {
    const double first = panel * length;
    const double last = std::min(first + length, steps);
    const double weight =
        power_of_complement(1.0 - c, steps - last) * geometric_sum(1.0 - c, last - first);
    sum += times(weight, std::max(gap.at(first), gap.at(last - 1.0)));
  }
  return sum;
}

}  // namespace

double proven_step_lipschitz(const HessianBounds& f, double learning_rate,
                             const Covariance& metric) {
  return hessian_step_lipschitz(f.kappa, f.lipschitz, learning_rate, metric) * (1.0 + 1e-15) +
         1e-300;
}

KlBound kl_bound_chain(const LangevinConstants& c, double learning_rate, double steps) {
  const Where where = Where::here();
  (void)kl_bound_finite_time(c, 0.0);  // checks the constants and that the variances agree
  require_positive("learning_rate", learning_rate, where);
  require_steps(steps, where);
  const Isotropic metric{1.0, c.dimension};
  const double own = proven_step_lipschitz(c.f, learning_rate, metric);
  const double other = std::min(1.0, proven_step_lipschitz(c.f_prime, learning_rate, metric));
  const double lipschitz = c.gap_lipschitz.value_or(
      std::max({c.f.lipschitz - c.f_prime.kappa, c.f_prime.lipschitz - c.f.kappa, 0.0}));
  const double far = times(c.f_prime.lipschitz, c.minimiser_distance);
  const SquaredGap gap{lipschitz,
                       std::min(c.gradient_at_minimiser.value_or(far), far),
                       learning_rate / c.variance,
                       (1.0 - own) * (1.0 + own),
                       c.start_distance,
                       static_cast<double>(c.dimension) * learning_rate * c.variance};
  double value = 0.0;
  if (steps == kInf) {
    const double limit = gap.limit();
    if (limit > 0.0 && other >= 1.0) {
      return no_bound(kMethod,
                      "the steps of the second chain do not contract (constant >= 1), so nothing "
                      "holds in the long run; lower the learning rate, add ridge, or ask for a "
                      "finite number of steps");
    }
    if (limit == kInf) {
      return no_bound(kMethod,
                      "the steps of the first chain do not contract (constant >= 1), so its "
                      "distance from the minimiser is not bounded; lower the learning rate, add "
                      "ridge, or ask for a finite number of steps");
    }
    value = limit == 0.0 ? 0.0 : 0.5 * (1.0 + other) / (1.0 - other) * limit;
  } else {
    const double power = power_of_complement(1.0 - other, steps);
    value = std::min(0.5 * (1.0 + other) / (1.0 + power) * weighted_sum(gap, other, steps),
                     0.5 * weighted_sum(gap, 1.0, steps));
  }
  if (!(value < kInf)) {
    return no_bound(kMethod,
                    "the constants overflow (the steps do not contract); lower the learning rate");
  }
  return kl_bound(value * kUp, kMethod);
}

}  // namespace sfumato
