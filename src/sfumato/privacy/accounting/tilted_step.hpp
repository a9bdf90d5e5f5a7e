#pragma once

#include <complex>
#include <vector>

#include "sfumato/privacy/accounting/nodes.hpp"
#include "sfumato/privacy/accounting/step.hpp"

namespace sfumato {

/// One step seen at an abscissa s0: the law of its privacy loss under the density that e^{s0 L} tilts, on nodes
/// of the trapezoidal rule (Spec §18.1), and from it M(s) = E_P e^{sL} on the line Re s = s0.
///
/// The nodes are so near to each other that the rule errs by less than e^-40 / k of M(s0) for |Im s| <= reach
/// (Theorem Q of Spec §18.1).
class TiltedStep {
 public:
  /// s0 > -1, reach >= 0.
  TiltedStep(const SampledGaussian& step, double s0, double reach);

  [[nodiscard]] double cumulant() const { return cumulant_; }  ///< K(s0) = log M(s0)
  [[nodiscard]] double mean() const { return mean_; }          ///< K'(s0)
  [[nodiscard]] double variance() const { return variance_; }  ///< K''(s0)
  [[nodiscard]] std::size_t nodes() const { return loss_.size(); }

  /// M(s0 + iy) / M(s0) - 1.
  [[nodiscard]] std::complex<double> change_at(double y) const;

  /// By how much M(s0 + iy) / M(s0) may be off, in units of M(s0) (Spec §18.4).
  [[nodiscard]] double error_at(double y) const;

  /// The most that log |M(s0 + iy)| can be for any y >= reach: the best of several lines parallel to the
  /// real axis (Theorem T of Spec §18.3), with the errors of its own quadrature.
  [[nodiscard]] double log_bound_beyond(double reach) const;

 private:
  [[nodiscard]] double log_bound_on_line(double eta, double reach) const;
  [[nodiscard]] double log_term_on_line(double x, double eta, double reach) const;

  SampledGaussian step_;
  double s0_;
  double spacing_ = 0.0;
  std::vector<nodes::Range> parts_;  ///< the nodes: whole multiples of the spacing
  std::vector<double> weight_;       ///< A_j, tilted probabilities
  std::vector<double> loss_;         ///< L_j
  double cumulant_ = 0.0, mean_ = 0.0, variance_ = 0.0;
  double error_slope_ = 0.0, error_floor_ = 0.0;  ///< of error_at(): slope |y| + floor
};

/// log(1 + x) for complex x, with the digits of x where it is small.
[[nodiscard]] std::complex<double> complex_log1p(std::complex<double> x);

}  // namespace sfumato
