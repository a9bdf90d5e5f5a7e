#include "sfumato/account/accountant/one_step.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/numbers.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
LogEnclosure one_step_delta(const LossLaw& law, double eps) {
  double p_lo = 0.0, p_hi = 0.0, q_lo = 0.0, q_hi = 0.0;
  if (law.tails) {
    const LossTails at = law.tails(eps);
    p_lo = at.p_above.lo, p_hi = at.p_above.hi, q_lo = at.q_above.lo, q_hi = at.q_above.hi;
  }
  for (const auto& [loss, mass] : law.atoms) {
    if (!(loss > eps)) continue;
    p_lo += mass.lo, p_hi += mass.hi;
    q_lo += mass.lo * std::exp(-loss) * (1.0 - 8.0 * kUnit),
        q_hi += mass.hi * std::exp(-loss) * (1.0 + 8.0 * kUnit);
  }
  const double factor = std::exp(eps), rounding = 8.0 * kUnit * (2.0 + std::fabs(eps));
  const double lo =
      p_lo * (1.0 - 8.0 * kUnit) - (q_hi > 0.0 ? factor * q_hi * (1.0 + rounding) : 0.0);
  const double hi =
      p_hi * (1.0 + 8.0 * kUnit) - (q_lo > 0.0 ? factor * q_lo * (1.0 - rounding) : 0.0);
  return {lo > 0.0 ? std::log(lo) - 4.0 * kUnit : -kInf,
          hi > 0.0 ? std::min(0.0, std::log(hi) + 4.0 * kUnit) : -kInf};
}

}  // namespace sfumato
