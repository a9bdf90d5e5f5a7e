#pragma once

#include <complex>
#include <vector>

#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {

/// The privacy loss L = log(p/q) of two normal distributions as a function of z ~ P = N(0, I) (Spec §3.2):
///
///   L(z) = linear^2/2 + linear z_0 + sum_i ( constant_i + a_i z_i^2 + b_i z_i )
///
/// where a term stands for `count` coordinates of its kind. Coordinates in which the variances agree (|lam - 1| < 1e-15) are merged into `linear`.
struct PrivacyLoss {
  struct Term {
    double a;         ///< (1 - lam) / (2 lam), never 0
    double b;         ///< -c / lam
    double constant;  ///< (log lam + c^2 / lam) / 2
    double vertex;  ///< constant - b^2 / (4 a) = (log lam + c^2 / (lam - 1)) / 2: its extreme value
    double count = 1.0;  ///< coordinates like it
  };
  double linear = 0.0;   ///< norm of the slope over the merged coordinates, >= 0
  double dropped = 0.0;  ///< sum of |lam - 1| over the merged coordinates
  std::vector<Term> terms;
  double mean_p = 0.0;      ///< E_P L = KL(P || Q)
  double variance_p = 0.0;  ///< Var_P L
  double mean_q = 0.0;      ///< E_Q L = -KL(Q || P)
};

/// The loss of N(0, I) against N(c, (1 + excess) I) in that many dimensions, the squared norm of c given (Spec §29.2).
[[nodiscard]] PrivacyLoss isotropic_loss(double dimension, double excess, double shift_squared);

/// `pair` must not be mutually singular.
/// Throws NumericalFailure as require_comparable().
[[nodiscard]] PrivacyLoss privacy_loss(const WhitenedPair& pair);

/// Essential range of L: infinite ends unless all a_i have one sign and linear = 0.
struct LossRange {
  double lowest;
  double highest;
};
[[nodiscard]] LossRange range_of(const PrivacyLoss& loss);

/// log M(s) = log E_P e^{s (L - eps)} and its derivatives in s, for real s with all
/// 1 - 2 s a_i > 0 (Spec §3.3).
struct CumulantDerivatives {
  double value;
  double first;
  double second;
};
[[nodiscard]] CumulantDerivatives cumulant(const PrivacyLoss& loss, double eps, double s);

/// M(s) / M(s0) for complex s near the real point s0, principal branch, without cancellation: every
/// factor is written as its ratio to the one at s0.
class MomentRatio {
 public:
  MomentRatio(const PrivacyLoss& loss, double eps, double s0);
  [[nodiscard]] std::complex<double> operator()(std::complex<double> s) const;

 private:
  struct Factor {
    double slope;   ///< 2 a / (1 - 2 s0 a)
    double a;       ///< as in the loss
    double weight;  ///< b^2 / (2 (1 - 2 s0 a)^2), 0 for |2 s0 a| > 1
    double
        constant;  ///< b^2 / (4 a (1 - 2 s0 a)^2) for |2 s0 a| > 1, where drift_ has -b^2 / (4 a)
    double count;
  };
  double s0_;
  double drift_;      ///< what the exponent has linearly in s
  double curvature_;  ///< linear^2 / 2
  std::vector<Factor> factors_;
};

}  // namespace sfumato
