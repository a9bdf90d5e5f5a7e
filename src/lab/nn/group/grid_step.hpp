#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/group/step_rows.hpp"
#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/training.hpp"
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

/// Hardened steps: gradients record by record, each by itself, so that its bits depend on neither the batch nor its place in it, and their sums with
/// exact noise (GridSum). Slower than the products over whole batches, which is what exactness costs.
class GridStep {
 public:
  GridStep(const Network& network, const Training& training, std::size_t slots,
           std::vector<ModelRecord>& models)
      : network_(network), training_(training), slots_(slots), models_(models) {}

  /// Leaves the noisy mean gradients of the step in the bundle.
  void compute(BundledModels& bundled, StepRows& rows, std::uint64_t step);

 private:
  void begin(BundledModels& bundled);

  const Network& network_;
  const Training& training_;
  std::size_t slots_;
  std::vector<ModelRecord>& models_;
  std::vector<GridSum> sums_;  ///< by model of the bundle
  std::vector<float> gradient_;
};

}  // namespace sfumato::lab
