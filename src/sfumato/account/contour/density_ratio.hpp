#pragma once

#include <vector>

#include "sfumato/account/steps/step_direction.hpp"

namespace sfumato {

/// The ratio r_g of the densities with and without a group of g records (Spec §17.1 (4), §19.5), a sum of exponentials of z with
/// weights b_j = binom(g, j) q^j (1 - q)^{g-j}:
///
///   r_g(z) = sum_j b_j e^{j m z - j^2 m^2/2}
///
/// In a strip |Im z| < pi / (g m) its terms point into less than a half-plane, so that with a = g m |Im z|
///   r_g(Re z) cos(a/2) <= |r_g(z)| <= r_g(Re z),   0 <= |arg r_g(z)| <= a
class MixtureRatio {
 public:
  MixtureRatio(double q, double m, int g);

  /// log r at z, and the size of what it was computed from: by 11 roundings of it, and those of z, log r may be off.
  struct Log {
    double value, size;
  };
  [[nodiscard]] Log log_at(double z) const;

  /// log |r(x + i eta)| and arg r(x + i eta), for 0 <= eta < pi / slope(); the argument is in [0, slope() eta].
  struct OffAxis {
    double log_modulus, argument;
  };
  struct Shift {
    double eta, cosine, sine;  ///< of m eta
  };
  [[nodiscard]] Shift shift(double eta) const;
  [[nodiscard]] OffAxis off_axis(double x, const Shift& shift) const;

  [[nodiscard]] bool is_of_one_record() const { return g_ == 1; }
  /// The share, for one record, of q e^{m z - m^2/2} in r.
  [[nodiscard]] double sampled_share(double z) const;

  /// g m: the most that log r grows by per unit of z.
  [[nodiscard]] double slope() const { return g_ * m_; }

 private:
  [[nodiscard]] Log log_of_group(double z) const;
  [[nodiscard]] OffAxis off_axis_of_group(double x, double eta) const;

  double q_, m_;
  int g_;
  std::vector<double> log_b_;  ///< empty for one record
};

/// Steps whose loss is made of log r at a normal z: SampledGaussian and GroupGaussian.
struct RatioStep {
  MixtureRatio ratio;
  StepDirection direction;
  double k;

  /// The loss L at z, the log of P's density over the standard normal one, and the size of what L was computed from.
  struct Loss {
    double loss, log_density, size;
  };
  [[nodiscard]] Loss loss_at(double z) const;

  /// log |P/phi (Q/P)^{-s0}| and how far the loss turns at x + i eta in the upper half-plane; in the lower for `add`, whose loss turns
  /// the other way.
  struct OffAxis {
    double log_modulus, turn;
  };
  [[nodiscard]] OffAxis off_axis(double x, const MixtureRatio::Shift& shift, double s0) const;

  /// g and p of Theorem Q in Spec §18.1: how often log r enters the loss, and the power of a cosine.
  [[nodiscard]] double turns() const { return direction == StepDirection::replace ? 2.0 : 1.0; }
  [[nodiscard]] double cosine_power(double s0) const {
    return direction == StepDirection::remove || s0 < 0.0 ? 0.0 : s0;
  }
};

}  // namespace sfumato
