#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {

/// The sum of clipped gradients in integers, with discrete Gaussian noise (Spec §24.2 to §24.4): neither rounding nor the order of records can tell
/// anything about them that the noise does not hide. Coordinates are those in which the noise is isotropic: each gradient is divided by the
/// deviations of its noise, so that its norm is 1 / noise_multiplier at most, and rounded to integers that are no longer.
class GridSum {
 public:
  /// For `steps` sums over at most `slots` records. Discrete noise reveals as much as continuous noise of the policy's multiplier does at most,
  /// since the integers are shortened by mu' / mu (Spec §24.3).
  /// Throws   InvalidArgument as sum_grid().
  GridSum(const NoisePolicy& policy, const Network& network, std::size_t slots,
          std::uint64_t steps);

  /// An empty sum. `deviations` are those of the noise of every parameter: a function of nothing but the policy and what was released before.
  void begin(std::span<const double> deviations);
  /// A record's clipped gradient. One that is not finite, or too long on the grid, counts nothing.
  void add(std::span<const float> gradient);
  /// The sum with noise of these bits, times `factor`.
  void release(ReleaseBits& bits, double factor, std::span<float> noisy);

  [[nodiscard]] const SumGrid& grid() const { return grid_; }
  /// Integers, so far without noise.
  [[nodiscard]] const Eigen::ArrayXd& integers() const { return sum_; }

 private:
  SumGrid grid_;
  Eigen::ArrayXd deviations_;
  Eigen::ArrayXd scales_;  ///< integers per unit of a gradient
  Eigen::ArrayXd one_, sum_;
};

}  // namespace sfumato::lab
