#include "sfumato/privacy/accounting/tail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-53;

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInf ? a : a + std::log1p(std::exp(b - a));
}

/// log(e^a - e^b), -inf where that is not positive.
double log_subtract(double a, double b) {
  if (!(a > b)) return -kInf;
  return a + std::log(-std::expm1(b - a));
}

}  // namespace

TailEnclosure tail_of(const TotalLoss& loss, double eps) {
  const LogEnclosure here = delta_of(loss, eps).log;
  // e^eps Q(T > eps), which does not overflow.
  double log_lo = -kInf, log_hi = 0.0;
  for (const double t : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    const double guard =
        8.0 * kUnit * (1.0 + std::fabs(eps)) / t;  // of the distance of two thresholds
    const LogEnclosure above = delta_of(loss, eps + t).log, below = delta_of(loss, eps - t).log;
    log_lo =
        std::max(log_lo, log_subtract(here.log_lo, above.log_hi) - std::log(std::expm1(t)) - guard);
    log_hi = std::min(log_hi,
                      log_subtract(below.log_hi, here.log_lo) - std::log(-std::expm1(-t)) + guard);
  }
  // P(T > eps) <= 1, and Q(T > eps) <= e^-eps P(T > eps).
  const double p_lo = log_add(here.log_lo, log_lo) - 8.0 * kUnit,
               p_hi = std::min(0.0, log_add(here.log_hi, log_hi) + 8.0 * kUnit);
  const double q_hi = std::min({0.0, log_hi - eps, p_hi - eps});
  return {{std::min(p_lo, p_hi), p_hi}, {std::min(log_lo - eps, q_hi), q_hi}};
}

}  // namespace sfumato
