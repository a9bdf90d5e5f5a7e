#include "sfumato/account/lattice/loss_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

struct Sides {
  MassBounds above, below;
};

/// P(Z > z) and P(Z <= z), the smaller of them from erfc.
std::pair<double, double> normal_sides(double z) {
  const double small = 0.5 * std::erfc(std::fabs(z) / std::numbers::sqrt2);
  return z > 0.0 ? std::pair{small, 1.0 - small} : std::pair{1.0 - small, small};
}

/// By which factor 1 + x a side of a normal distribution may be off: erfc, the rounding of its argument, and a place that is off by `shift`.
/// The hazard rate is at most |z| + 1.
double side_error(double z, double shift) {
  const double size = std::fabs(z);
  return 16.0 * kUnit + (size + 1.0 + shift) * (4.0 * kUnit * size + shift);
}

Sides sides_at(const Mixture& mixture, double z, double shift) {
  double above = 0.0, below = 0.0, error = 0.0;
  for (const auto& [weight, mean] : mixture) {
    const auto [over, under] = normal_sides(z - mean);
    above += weight * over;
    below += weight * under;
    error = std::max(error,
                     side_error(z - mean, shift + 2.0 * kUnit * (std::fabs(z) + std::fabs(mean))));
  }
  const double grow = std::exp(error + 4.0 * kUnit * static_cast<double>(mixture.size()));
  const auto bounds = [&](double x) { return with_digits({x / grow, x * grow}); };
  // The larger side has the digits of the smaller.
  const auto complement = [](const MassBounds& x) {
    return MassBounds{std::max(0.0, 1.0 - x.hi - 8.0 * kUnit),
                      std::min(1.0, 1.0 - x.lo + 8.0 * kUnit)};
  };
  if (above < below) {
    const MassBounds small = bounds(above);
    return {small, complement(small)};
  }
  const MassBounds small = bounds(below);
  return {complement(small), small};
}

Sides sides_at(const Mixture& mixture, const Crossing& at) {
  if (at.low == at.high && std::isinf(at.low)) {
    const double one = at.low < 0.0 ? 1.0 : 0.0;
    return {{one, one}, {1.0 - one, 1.0 - one}};
  }
  if (std::isfinite(at.low) && at.high - at.low < 1e-4) {
    return sides_at(mixture, 0.5 * (at.low + at.high), 0.5 * (at.high - at.low));
  }
  const Sides high =
      std::isinf(at.high) ? Sides{{0.0, 0.0}, {1.0, 1.0}} : sides_at(mixture, at.high, 0.0);
  const Sides low =
      std::isinf(at.low) ? Sides{{1.0, 1.0}, {0.0, 0.0}} : sides_at(mixture, at.low, 0.0);
  return {{high.above.lo, low.above.hi}, {low.below.lo, high.below.hi}};
}

}  // namespace

MassBounds LossAtom::q_mass() const {
  const double ratio = std::exp(-loss), error = 8.0 * kUnit * (1.0 + std::fabs(loss));
  const double lo = p_mass.lo > 0.0 ? p_mass.lo * ratio * (1.0 - error) : 0.0;  // ratio may be +inf
  return with_digits({lo, p_mass.hi * ratio * (1.0 + error)});
}

Crossing sampled_crossing(double q, double m, double t) {
  // e^{m z - m^2/2} = (e^t - (1 - q)) / q =: e^a
  double a = 0.0, error = 0.0;
  const double y = std::expm1(t) / q;
  if (t > 1.0) {
    a = t - std::log(q) + std::log1p(-(1.0 - q) * std::exp(-t));
    error = 8.0 * kUnit * (1.0 + t + std::fabs(std::log(q)));
  } else if (y >= -0.5) {
    a = std::log1p(y);
    error = 16.0 * kUnit * (1.0 + std::fabs(a));
  } else {
    const double numerator = q < 0.5 ? std::expm1(t) + q : std::exp(t) - (1.0 - q);
    const double off = q < 0.5 ? 8.0 * kUnit * q : 8.0 * kUnit * (std::exp(t) + (1.0 - q));
    if (numerator + off <= 0.0) return {-kInf, -kInf};
    const double high = (std::log((numerator + off) / q) * (1.0 - 4.0 * kUnit)) / m + 0.5 * m;
    if (numerator <= 2.0 * off) return {-kInf, high + 8.0 * kUnit * std::fabs(high)};
    a = std::log(numerator / q);
    error = 2.0 * off / numerator + 8.0 * kUnit * (1.0 + std::fabs(a));
  }
  const double z = a / m + 0.5 * m;
  return crossing_near(z, error / m + 4.0 * kUnit * (std::fabs(a) / m + m));
}

LossTails tails_of(const Mixture& p, const Mixture& q, const Crossing& at, bool reversed) {
  const Sides of_p = sides_at(p, at), of_q = sides_at(q, at);
  if (reversed) return {of_p.below, of_p.above, of_q.below, of_q.above};
  return {of_p.above, of_p.below, of_q.above, of_q.below};
}

LossDistribution normal_loss_distribution(double mu_squared) {
  const double m = std::sqrt(mu_squared);
  const Mixture shifted = {{1.0, m}};
  return {{}, [=](double t) {
            const double z = t / m + 0.5 * m;
            return tails_of(shifted, kStandard,
                            crossing_near(z, 8.0 * kUnit * (std::fabs(t) / m + m)), false);
          }};
}

LogEnclosure one_step_delta(const LossDistribution& distribution, double eps) {
  double p_lo = 0.0, p_hi = 0.0, q_lo = 0.0, q_hi = 0.0;
  if (distribution.tails) {
    const LossTails at = distribution.tails(eps);
    p_lo = at.p_above.lo, p_hi = at.p_above.hi, q_lo = at.q_above.lo, q_hi = at.q_above.hi;
  }
  for (const auto& [loss, mass] : distribution.atoms) {
    if (!(loss > eps)) continue;
    p_lo += mass.lo, p_hi += mass.hi;
    const MassBounds q = LossAtom{loss, mass}.q_mass();
    q_lo += q.lo, q_hi += q.hi;
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
