#pragma once

#include <cmath>

namespace sfumato {

/// a * b, where nothing times infinity is nothing: a direction without noise does not spread.
[[nodiscard]] inline double product_or_zero(double a, double b) { return a == 0.0 ? 0.0 : a * b; }

/// e^{-rate time}, 1 for rate = 0 even at time = +inf.
[[nodiscard]] inline double decay(double rate, double time) {
  return rate == 0.0 ? 1.0 : std::exp(-rate * time);
}

/// psi(1 + excess) = excess - log(1 + excess), the covariance part of a Gaussian KL (Spec §1.8).
///
/// Takes the excess u = r - 1 instead of r, so that nothing is lost for ratios near one.
/// Edges   excess = 0 gives 0; excess = -1 or +inf gives +inf; excess < -1 gives NaN.
[[nodiscard]] double psi_of_excess(double excess);

/// psi(ratio) from the ratio and its excess over one, whichever holds the digits.
[[nodiscard]] inline double psi(double ratio, double excess) {
  return excess < -0.5 ? excess - std::log(ratio) : psi_of_excess(excess);
}

/// phi1(rate, time) = integral of e^{-rate s} over [0, time] (Spec §1.9).
///
/// Any finite rate, time >= 0 including +inf (1/rate for rate > 0, else +inf).
[[nodiscard]] double phi1(double rate, double time);

/// log Phi(x), the logarithm of the standard normal distribution function, to full relative
/// accuracy in both tails (x = -1e4 gives about -5e7 and not -inf).
[[nodiscard]] double log_normal_cdf(double x);

/// log(1 - e^x) for x <= 0.
[[nodiscard]] double log1m_exp(double x);

/// log(e^a - e^b) for a >= b; -inf when they are equal.
[[nodiscard]] double log_sub_exp(double a, double b);

/// log(e^a + e^b).
[[nodiscard]] double log_add_exp(double a, double b);

}  // namespace sfumato
