#include "sfumato/account/lattice/loss_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/account/contour/numbers.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

/// Where a loss that grows with z crosses a threshold: the true place is between the two.
struct Crossing {
  double low, high;
};

Crossing around(double z, double error) { return {z - error, z + error}; }

/// One normal law with variance 1 of a mixture.
struct Component {
  double weight, mean;
};
using Mixture = std::vector<Component>;

struct Sides {
  MassBounds above, below;
};

/// P(Z > z) and P(Z <= z), the smaller of them from erfc.
std::pair<double, double> normal_sides(double z) {
  const double small = 0.5 * std::erfc(std::fabs(z) / std::numbers::sqrt2);
  return z > 0.0 ? std::pair{small, 1.0 - small} : std::pair{1.0 - small, small};
}

/// By which factor 1 + x a side of a normal law may be off: erfc, the rounding of its argument, and a place that is off by `shift`.
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
  // Beyond 1e-300 numbers lose digits: what is that small counts as anything below it.
  const auto bounds = [&](double x) {
    return x < 1e-300 ? MassBounds{0.0, 1e-300} : MassBounds{x / grow, x * grow};
  };
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

/// Where log((1 - q) + q e^{m z - m^2/2}) is t.
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
  return around(z, error / m + 4.0 * kUnit * (std::fabs(a) / m + m));
}

/// Where log r(z) - log r(-z) is t, for r of SampledGaussian: with x = e^{m z - t/2} the equation is
/// x - 1/x = 2 (1 - q)/q e^{m^2/2} sinh(t/2).
Crossing replaced_crossing(double q, double m, double t) {
  const double half = 0.5 * std::fabs(t);
  const double log_factor = std::log((1.0 - q) / q) + 0.5 * m * m;
  const double log_sinh = half > 20.0 ? half - std::numbers::ln2 : std::log(std::sinh(half));
  const double log_argument = log_factor + log_sinh;
  double turn = 0.0;
  if (t == 0.0) return {0.0, 0.0};
  if (log_argument > 30.0) {
    turn = log_argument + std::numbers::ln2;  // asinh(e^x) = x + log 2 + O(e^-2x)
  } else {
    turn = std::asinh((1.0 - q) / q * std::exp(0.5 * m * m) * std::sinh(half));
  }
  const double z = std::copysign((half + turn) / m, t);
  const double relative = 16.0 * kUnit * (1.0 + m * m);  // of the argument, and so of asinh at most
  return around(
      z, (std::min(turn, 1.0) * relative +
          16.0 * kUnit *
              (half + turn +
               (log_argument > 30.0 ? 1.0 + m * m + std::fabs(std::log((1.0 - q) / q)) : 0.0))) /
                 m +
             8.0 * kUnit * std::fabs(z));
}

/// The density ratio r_g of a group (Spec §19.5).
class GroupRatio {
 public:
  GroupRatio(double q, double m, int g) : m_(m) {
    for (int j = 0; j <= g; ++j) {
      const double log_weight = std::lgamma(g + 1.0) - std::lgamma(j + 1.0) -
                                std::lgamma(g - j + 1.0) + j * std::log(q) +
                                (g - j) * std::log1p(-q);
      weights_.push_back(std::exp(log_weight));
    }
    lowest_ = g * std::log1p(-q);
    // Of the weights: their logarithms' roundings.
    weight_error_ =
        32.0 * kUnit * (1.0 + g * (1.0 + std::fabs(std::log(q)) + std::fabs(std::log1p(-q))));
  }

  [[nodiscard]] double lowest() const { return lowest_; }
  [[nodiscard]] double weight_error() const { return weight_error_; }
  [[nodiscard]] Mixture mixture() const {
    Mixture result;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      result.push_back({weights_[j], static_cast<double>(j) * m_});
    }
    return result;
  }

  /// log r_g(z) and by how much it may be off.
  [[nodiscard]] std::pair<double, double> log_at(double z) const {
    double largest = 0.0;
    for (std::size_t j = 1; j < weights_.size(); ++j) largest = std::max(largest, exponent(j, z));
    double sum = 0.0, off = 0.0, change = 0.0;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      const double a = exponent(j, z);
      const double term = weights_[j] * std::exp(a - largest);
      const double jm = static_cast<double>(j) * m_;
      sum += term;
      off += term * (4.0 * kUnit * (jm * std::fabs(z) + jm * jm) + weight_error_);
      change += weights_[j] * std::expm1(a);
    }
    const double direct = largest + std::log(sum);
    const double error =
        off / sum + 8.0 * kUnit * static_cast<double>(weights_.size()) + 4.0 * kUnit * largest;
    if (largest < 600.0 && std::fabs(change) < 0.5) {
      double small = 0.0;  // sizes of what is summed, for its error
      for (std::size_t j = 0; j < weights_.size(); ++j) {
        const double jm = static_cast<double>(j) * m_;
        const double a = exponent(j, z);
        small += weights_[j] *
                 (std::fabs(std::expm1(a)) *
                      (weight_error_ + 8.0 * kUnit * static_cast<double>(weights_.size())) +
                  std::exp(a) * 4.0 * kUnit * (jm * std::fabs(z) + jm * jm));
      }
      return {std::log1p(change), 2.0 * small + 4.0 * kUnit * std::fabs(change)};
    }
    return {direct, error};
  }

  /// Where log r_g is t: bisection, then as far to both sides as the errors demand.
  [[nodiscard]] Crossing crossing(double t) const {
    if (t < lowest_ - 8.0 * kUnit * (1.0 + std::fabs(lowest_))) return {-kInf, -kInf};
    const double g = static_cast<double>(weights_.size() - 1);
    double low = -45.0, high = 45.0 + g * m_;
    if (log_at(low).first >= t) return {-kInf, low};
    if (log_at(high).first <= t) return {high, kInf};
    for (int i = 0; i < 200 && high - low > 4.0 * kUnit * (std::fabs(low) + std::fabs(high)); ++i) {
      const double middle = 0.5 * (low + high);
      (log_at(middle).first < t ? low : high) = middle;
    }
    Crossing result{low, high};
    double step = 8.0 * kUnit * (1.0 + std::fabs(low));
    const auto surely = [&](double z, double sign) {
      const auto [value, error] = log_at(z);
      return sign * (value - t) > error + 2.0 * kUnit * std::fabs(t);
    };
    for (double s = step; !surely(result.low, -1.0); s *= 2.0) {
      result.low -= s;
      if (result.low < -45.0) {
        result.low = -kInf;
        break;
      }
    }
    for (double s = step; !surely(result.high, 1.0); s *= 2.0) {
      result.high += s;
      if (result.high > 45.0 + g * m_) {
        result.high = kInf;
        break;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] double exponent(std::size_t j, double z) const {
    const double jm = static_cast<double>(j) * m_;
    return jm * z - 0.5 * jm * jm;
  }
  double m_;
  std::vector<double> weights_;
  double lowest_, weight_error_;
};

void widen(MassBounds& bounds, double relative) {
  bounds.lo *= 1.0 - relative;
  bounds.hi *= 1.0 + relative;
}

/// The tails of a loss that grows (or, reversed, falls) with z.
LossTails tails_of(const Mixture& p, const Mixture& q, const Crossing& at, bool reversed) {
  const Sides of_p = sides_at(p, at), of_q = sides_at(q, at);
  if (reversed) return {of_p.below, of_p.above, of_q.below, of_q.above};
  return {of_p.above, of_p.below, of_q.above, of_q.below};
}

const Mixture kStandard = {{1.0, 0.0}};

LossLaw law_of(const SampledGaussian& step) {
  const double q = step.q, m = step.m;
  const Mixture with = {{1.0 - q, 0.0}, {q, m}};
  switch (step.direction) {
    case StepDirection::remove:
      return {{}, [=](double t) {
                return tails_of(with, kStandard, sampled_crossing(q, m, t), false);
              }};
    case StepDirection::add:
      return {{}, [=](double t) {
                return tails_of(kStandard, with, sampled_crossing(q, m, -t), true);
              }};
    case StepDirection::replace: {
      const Mixture other = {{1.0 - q, 0.0}, {q, -m}};
      return {{},
              [=](double t) { return tails_of(with, other, replaced_crossing(q, m, t), false); }};
    }
  }
  throw InternalError("a direction without a loss");
}

LossLaw law_of(const GroupGaussian& step) {
  const GroupRatio ratio(step.q, step.m, step.g);
  const bool reversed = step.direction == StepDirection::add;
  return {{}, [=](double t) {
            LossTails tails = reversed
                                  ? tails_of(kStandard, ratio.mixture(), ratio.crossing(-t), true)
                                  : tails_of(ratio.mixture(), kStandard, ratio.crossing(t), false);
            for (MassBounds* bounds :
                 {&tails.p_above, &tails.p_below, &tails.q_above, &tails.q_below}) {
              widen(*bounds, ratio.weight_error());
            }
            return tails;
          }};
}

/// Losses above 0 are those of `remove`, losses below 0 those of `add`, and the rest is an atom at 0.
LossLaw law_of(const TwoSidedGaussian& step) {
  const double q = step.q, m = step.m;
  const Mixture with = {{1.0 - q, 0.0}, {q, m}};
  const double atom = (1.0 - q) * std::erf(0.5 * m / std::numbers::sqrt2);
  const auto beyond = [=](double t) {  // t >= 0
    const Crossing at = t == 0.0 ? Crossing{0.5 * m, 0.5 * m} : sampled_crossing(q, m, t);
    return tails_of(with, kStandard, at, false);
  };
  const LossTails all = beyond(0.0);
  return {{{0.0, {atom * (1.0 - 16.0 * kUnit), atom * (1.0 + 16.0 * kUnit)}}}, [=](double t) {
            const LossTails outer = beyond(std::fabs(t));
            // P-mass above 0 is that of `remove`, below 0 that of `add`: what one law has above, the other has below.
            const auto rest = [](MassBounds side, MassBounds out, MassBounds other) {
              return MassBounds{std::max(0.0, side.lo - out.hi) + other.lo,
                                side.hi - out.lo + other.hi};
            };
            if (t >= 0.0) {
              return LossTails{outer.p_above, rest(all.p_above, outer.p_above, all.q_above),
                               outer.q_above, rest(all.q_above, outer.q_above, all.p_above)};
            }
            return LossTails{rest(all.q_above, outer.q_above, all.p_above), outer.q_above,
                             rest(all.p_above, outer.p_above, all.q_above), outer.p_above};
          }};
}

/// The loss is (1 - 2x) eps0 for x in (0, 1), where the noise is between the two answers, and +- eps0 outside.
LossLaw law_of(const LaplaceStep& step) {
  const double e = step.eps0;
  const double small = 0.5 * std::exp(-e);
  const auto exactly = [](double x) {
    return MassBounds{x * (1.0 - 8.0 * kUnit), x * (1.0 + 8.0 * kUnit)};
  };
  return {{{e, exactly(0.5)}, {-e, exactly(small)}}, [=](double t) {
            const double inside = std::clamp(t, -e, e);
            // P(L > t, no atom) = P(0 < x < (1 - t/e)/2), x being the noise over its scale times e.
            const auto part = [=](double from, double to) {  // of e^-y over y in (from, to), halved
              const double value = -0.5 * std::exp(-from) * std::expm1(from - to);
              const double off = 8.0 * kUnit * (value * (1.0 + e) + std::exp(-from) * e);
              return MassBounds{std::max(0.0, value - off), value + off};
            };
            const double place = 0.5 * (e - inside), mirror = 0.5 * (e + inside);
            return LossTails{part(0.0, place), part(place, e), part(mirror, e), part(0.0, mirror)};
          }};
}

LossLaw law_of(const RandomisedResponse& step) {
  const double truth = 1.0 / (1.0 + std::exp(-step.eps0));
  const double lie = std::exp(-step.eps0) * truth;
  const auto exactly = [](double x) {
    return MassBounds{x * (1.0 - 8.0 * kUnit), x * (1.0 + 8.0 * kUnit)};
  };
  return {{{step.eps0, exactly(truth)}, {-step.eps0, exactly(lie)}}, {}};
}

}  // namespace

LossLaw loss_law_of(const StepLoss& step) {
  return std::visit([](const auto& kind) { return law_of(kind); }, step);
}

LossLaw normal_loss_law(double mu_squared) {
  const double m = std::sqrt(mu_squared);
  const Mixture shifted = {{1.0, m}};
  return {{}, [=](double t) {
            const double z = t / m + 0.5 * m;
            return tails_of(shifted, kStandard, around(z, 8.0 * kUnit * (std::fabs(t) / m + m)),
                            false);
          }};
}

}  // namespace sfumato
