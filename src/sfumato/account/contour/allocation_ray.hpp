#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "sfumato/account/contour/rounding_unit.hpp"

namespace sfumato {

/// One of t batches, chosen uniformly for a record, with contributions of m deviations of the noise: under the data without it
/// the likelihood ratio is the mean R of Lam_i = e^{m x_i - m^2/2} over t standard normal x_i (Spec §28.2).
struct Allocation {
  double t;  ///< batches of an epoch, a whole number >= 2
  double m;  ///< > 0
};

/// Gamma(nu) e^{-angle y} cos(psi)^{-nu} / |Gamma(nu + iy)|, by how much sums over a ray are larger than what they come to (Spec §28.5),
/// as a logarithm.
class Amplification {
 public:
  Amplification(double nu, double y);
  [[nodiscard]] double operator()(double angle, double psi) const {
    return log_gammas_ - angle * y_ - nu_ * std::log(std::cos(psi));
  }

 private:
  double nu_, y_, log_gammas_;
};

/// The probabilities b_n(z) = E[(zR)^n e^{-zR}] / n! of a mixed Poisson number at points z = r e^{-i angle} of a ray, by the trapezoidal rule in x
/// (Spec §28.4, §28.5).
class AllocationRay {
 public:
  struct Shape {
    Allocation of;
    int n;
    double angle;               ///< in [0, pi/2)
    double nu;                  ///< n - p for the powers p that are asked for, the largest
    double least_p, largest_p;  ///< real parts of them
  };
  explicit AllocationRay(const Shape& shape);

  /// b_n at a point, and what its rounding is made of (E_f of Spec §28.6).
  struct Node {
    double log_modulus = 0.0, argument = 0.0;  ///< of b_n(z)
    double log_majorant = 0.0;                 ///< of the sum of moduli
    double roundings = 0.0;  ///< of the majorant, by how many units b_n may be off
  };
  [[nodiscard]] Node at(double log_r) const;

  /// The largest angle psi' of the lines on which the rule in x was bounded, and log (1 + kappa)^t - 1.
  [[nodiscard]] double widest_angle() const { return widest_; }
  [[nodiscard]] double log_rule_error() const { return log_rule_error_; }
  [[nodiscard]] int order() const { return n_; }

 private:
  struct Powers;
  [[nodiscard]] Powers powers_at(double log_r, double lift) const;

  Allocation of_;
  int n_;
  double psi_;  ///< angle of what is summed
  double widest_ = 0.0, log_rule_error_ = 0.0;
  std::size_t size_ = 0;
  std::vector<double> log_ratio_;              ///< log(Lam / t), increasing
  std::vector<double> weight_re_, weight_im_;  ///< padded to whole blocks, as all of these
  std::vector<double> ratio_;                  ///< Lam / t
  std::vector<Complex> weight_beyond_;         ///< of a point and all above it
  std::vector<double> inverse_;                ///< 1/k
};

}  // namespace sfumato
