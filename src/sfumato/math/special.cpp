#include "sfumato/math/special.hpp"

#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <numbers>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

/// Mills ratio Phi(-x) / phi(x) for x >= 5 by its continued fraction x + 1/(x + 2/(x + 3/(...))).
/// 60 levels from the bottom up: converged to rounding from x = 5 on (compared with 50 digits).
double mills_ratio(double x) {
  double tail = x;
  for (int level = 60; level >= 1; --level) tail = x + level / tail;
  return 1.0 / tail;
}

}  // namespace

double psi_of_excess(double excess) {
  if (excess == -1.0 || excess == kInf) return kInf;
  // The direct form loses log2(2/|u|) bits; the series of log1pmx takes too many terms above 1/4.
  if (std::abs(excess) > 0.25) return excess - std::log1p(excess);
  return -boost::math::log1pmx(excess);
}

double phi1(double rate, double time) {
  if (time == 0.0) return 0.0;
  if (rate == 0.0) return time;
  if (time == kInf) return rate > 0.0 ? 1.0 / rate : kInf;
  const double x = rate * time;
  if (std::abs(x) < 1e-8) return time * (1.0 - 0.5 * x);  // Spec §1.9
  return -std::expm1(-x) / rate;
}

double log_normal_cdf(double x) {
  constexpr double log_root_two_pi = 0.91893853320467274178;
  if (x > 0.0) return std::log1p(-0.5 * std::erfc(x / std::numbers::sqrt2));
  if (x > -5.0) return std::log(0.5 * std::erfc(-x / std::numbers::sqrt2));
  if (x == -kInf) return -kInf;
  return -0.5 * x * x - log_root_two_pi + std::log(mills_ratio(-x));
}

double log1m_exp(double x) {
  return x > -std::numbers::ln2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double log_sub_exp(double a, double b) {
  if (b == -kInf) return a;
  if (a == b) return -kInf;
  return a + log1m_exp(b - a);
}

double log_add_exp(double a, double b) {
  const double large = std::max(a, b);
  if (std::isinf(large)) return large;
  return large + std::log1p(std::exp(std::min(a, b) - large));
}

}  // namespace sfumato
