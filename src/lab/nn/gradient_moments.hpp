#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sfumato::lab {

/// Second moments of released gradients, less those of their noise, coordinate by coordinate (Spec §23.3):
///
///   v <- be v + (1-be) g^2,   nv <- be nv + (1-be) n,   z <- be z + 1-be;     a = max( v/z - nv/z, phi nv/z )
///
/// A function of what was released alone, hence free of cost. That it helps is a heuristic.
class GradientMoments {
 public:
  static constexpr double kLeastShape = 1e-6;  ///< of a parameter, beside a mean of 1

  explicit GradientMoments(std::size_t size, double decay = 0.99, double floor = 0.1);

  /// A released gradient, and the known variances of its noise.
  void add(std::span<const double> gradient, std::span<const double> noise_variances);

  /// a; zeros before the first gradient.
  [[nodiscard]] std::vector<double> second_moments() const;
  /// diag(sqrt(a)) of mean 1: the shape of the next steps' noise.
  [[nodiscard]] std::vector<float> shape() const;

  /// z, v, nv: everything, to go on from.
  [[nodiscard]] std::vector<double> state() const;
  void restore(std::span<const double> state);

 private:
  double decay_, floor_, weight_ = 0.0;
  std::vector<double> moments_, noise_;
};

/// The first steps, in which the noise is isotropic: a twentieth, at least 20.
[[nodiscard]] std::uint64_t warm_up_steps(std::uint64_t iterations);

}  // namespace sfumato::lab
