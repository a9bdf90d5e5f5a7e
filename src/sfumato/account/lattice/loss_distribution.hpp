#pragma once

#include <functional>
#include <vector>

#include "sfumato/account/contour/log_enclosure.hpp"

namespace sfumato {

/// A nonnegative number between two ends.
struct MassBounds {
  double lo = 0.0;
  double hi = 0.0;
};

/// Probabilities below it lose digits in double precision: what is that small counts as anything below it.
inline constexpr double kLeastMass = 1e-300;
[[nodiscard]] inline MassBounds with_digits(const MassBounds& mass) {
  return mass.lo < kLeastMass ? MassBounds{0.0, mass.hi < kLeastMass ? kLeastMass : mass.hi} : mass;
}

/// How much of a loss is above a threshold and how much is not, under P and under Q.
struct LossTails {
  MassBounds p_above, p_below;
  MassBounds q_above, q_below;
};

/// A loss that has positive probability under P; under Q it has e^-loss times as much.
struct LossAtom {
  double loss;
  MassBounds p_mass;

  [[nodiscard]] MassBounds q_mass() const;
};

/// The distribution of the privacy loss L = log dP/dQ of one step under P and under Q, as distribution functions whose rounding
/// errors are bounded: all that pld.hpp knows of a step. It holds if exp, log, asinh and sinh err by at most 2 ulp, erfc by 6.
struct LossDistribution {
  std::vector<LossAtom> atoms;
  /// The rest of the distribution at a threshold, which itself may be off by a rounding; empty where there are atoms alone.
  std::function<LossTails(double threshold)> tails;
};

/// Normal noise without sampling: E_P e^{sL} = e^{mu^2 s (s+1) / 2}.
[[nodiscard]] LossDistribution normal_loss_distribution(double mu_squared);

/// delta(eps) = P(L > eps) - e^eps Q(L > eps) of one step alone, from its distribution functions: neither lattice nor contour.
/// eps is finite. Wide only where both terms agree in nearly all their digits.
[[nodiscard]] LogEnclosure one_step_delta(const LossDistribution& distribution, double eps);

/// Losses that grow with a normal z are known by where they cross a threshold: the true place is between the two.
struct Crossing {
  double low, high;
};
[[nodiscard]] inline Crossing crossing_near(double z, double error) {
  return {z - error, z + error};
}

/// Where log((1 - q) + q e^{m z - m^2/2}) is t.
[[nodiscard]] Crossing sampled_crossing(double q, double m, double t);

/// One normal distribution with variance 1 of a mixture.
struct Component {
  double weight, mean;
};
using Mixture = std::vector<Component>;
inline const Mixture kStandard = {{1.0, 0.0}};

/// The tails of a loss that grows (or, reversed, falls) with z, whose distribution is p under P and q under Q.
[[nodiscard]] LossTails tails_of(const Mixture& p, const Mixture& q, const Crossing& at,
                                 bool reversed);

}  // namespace sfumato
