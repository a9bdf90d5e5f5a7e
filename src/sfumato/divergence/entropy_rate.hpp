#pragma once

#include <optional>

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {

/// How fast KL(p_t || q_t) grows, and the two bounds on it (Spec §6.1), all in nats per unit time.
struct EntropyRate {
  std::optional<double>
      exact;      ///< d/dt KL(p_t || q_t); empty when a distribution at that time is singular
  double primal;  ///< 1/2 E_p |Sigma^{-1/2} Phi|^2, with the score of q
  double dual;    ///< 1/2 E_p |Sigma'^{-1/2} Psi|^2, with the score of p
};

/// The entropy rate of an Ornstein-Uhlenbeck pair in closed form. Phi and Psi are affine in x, so
/// their expectations under N(m, V) need a mean and a trace:
///
///   Spec §6.1 (1), (3):   Phi = F (x - m) + f,   E |Sigma^{-1/2} Phi|^2 = |Sigma^{-1/2} f|^2
///                                                                   + tr( F^T Sigma^{-1} F V )
///   F = A' - A - (Sigma' - Sigma) V'^{-1} / 2
///   f = (Sigma' - Sigma) V'^{-1} (m' - m) / 2 - (b' - b)(m)
///
/// Psi is the same with V, m in place of V', m', and its norm is that of Sigma'^{-1/2}.
/// With Sigma = Sigma' (the same entries) both are b - b' and no score is needed.
///
/// Edges    primal is +inf if Sigma is singular, or if V'_t is and the covariances differ; dual the
///          same with Sigma' and V_t. time = +inf takes the stationary distributions.
/// Throws   as OuDistribution and OuDistribution::at.
class OuEntropyRate {
 public:
  explicit OuEntropyRate(const OuPair& pair);
  [[nodiscard]] EntropyRate at(double time) const;

 private:
  OuPair pair_;
  OuDistribution p_;
  OuDistribution q_;
  bool same_noise_;
  bool definite_p_;
  bool definite_q_;
  Eigen::MatrixXd noise_p_;
  Eigen::MatrixXd noise_q_;
  Eigen::MatrixXd noise_gap_;  ///< Sigma' - Sigma
};

/// Bounds on KL(p_t || q_t) by integrated rates (Spec §6.1 (5)), the KL of the starts included.
struct EntropyRateBounds {
  KlBound primal;
  KlBound dual;
  KlBound pointwise_minimum;  ///< integral of the smaller of both rates: never above either
};

/// Integrates the rate bounds over [0, time]; the integrals are rounded up (upper_integral).
///
/// Edges    infinite, with the reason, when the start is singular (a point) and the covariances
///          differ, when the covariance that a form inverts is singular, when the starts are
///          mutually singular, and for time = +inf unless both processes are the same.
/// Throws   InvalidArgument if time is negative or NaN, otherwise as OuDistribution and OuDistribution::at.
[[nodiscard]] EntropyRateBounds entropy_rate_bounds(const OuPair& pair, double time);

}  // namespace sfumato
