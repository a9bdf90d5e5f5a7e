#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sfumato {

/// The distribution of a step's privacy loss L under P, tilted by e^{s0 L}, on finitely many points: weights A_j that sum to 1 and losses L_j
/// (Spec §18.1). From it M(s) = E_P e^{sL} on the line Re s = s0, as far as the points are dense enough for.
struct TiltedDistribution {
  std::vector<double> weight;  ///< A_j
  std::vector<double> loss;    ///< L_j
  double cumulant = 0.0;       ///< K(s0) = log M(s0)
  double mean = 0.0;           ///< K'(s0)
  double variance = 0.0;       ///< K''(s0)
  double error_slope = 0.0;    ///< of error_at(): slope |y| + floor
  double error_floor = 0.0;

  [[nodiscard]] std::size_t size() const { return loss.size(); }

  /// M(s0 + iy) / M(s0) - 1.
  [[nodiscard]] std::complex<double> change_at(double y) const;

  /// By how much M(s0 + iy) / M(s0) may be off, in units of M(s0): quadrature, what was left out, and rounding (Spec §18.4).
  [[nodiscard]] double error_at(double y) const;
};

/// The terms of a distribution: points z with a weight under P or under the standard normal distribution, the exponent that makes the weight the tilted
/// one, and the loss.
struct DistributionTerms {
  std::vector<double>
      half_square;               ///< z^2/2, and what else the log of the weight was computed from
  std::vector<double> log_base;  ///< log of the weight
  std::vector<double> exponent;  ///< x_j: the tilted weight is e^{log_base + x}
  std::vector<double> loss;
  std::vector<double> loss_size;  ///< L is off by roundings of this
  std::vector<double> shift;  ///< by how much L may turn because of a rounding of z, in roundings

  void reserve(std::size_t count);
  void add(double half_square_at, double log_base_at, double exponent_at, double loss_at,
           double loss_size_at, double shift_at);
};

/// The distribution of the terms, with the errors of rounding alone. `complete` says that the weights before the tilt sum to 1, so that K keeps its
/// digits where it is tiny.
[[nodiscard]] TiltedDistribution distribution_of(const DistributionTerms& terms, bool complete);

/// log(1 + x) for complex x, with the digits of x where it is small.
[[nodiscard]] std::complex<double> complex_log1p(std::complex<double> x);

}  // namespace sfumato
