#pragma once

#include <Eigen/Core>
#include <functional>

#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// A few numbers of each record, summed and released.
struct NoisySum {
  Eigen::VectorXd sum;
  double noise_std;  ///< of each entry
};

/// The records that are summed, and the noise on the sum.
struct SumBudget {
  Eigen::Index count, entries;  ///< records; numbers of each
  double clip;                  ///< no record contributes more
  double noise_multiplier;      ///< deviation of the noise over the clip
  double rows;                  ///< the declared number of records
};

/// Adds up what `contribution` writes for each record, and noise.
[[nodiscard]] NoisySum noisy_sum(
    const std::function<void(Eigen::Index, Eigen::Ref<Eigen::ArrayXd>)>& contribution,
    const SumBudget& budget, NoiseMode mode, ReleaseBits& bits);

/// A vector that moves by at most `sensitivity` between neighbours, with noise that costs `mu` (Spec §22.6, §24.2: rounding adds sqrt(entries)
/// grid units to what it moves).
[[nodiscard]] NoisySum noisy_vector(const Eigen::VectorXd& value, double sensitivity, double mu,
                                    NoiseMode mode, ReleaseBits& bits);

}  // namespace sfumato
