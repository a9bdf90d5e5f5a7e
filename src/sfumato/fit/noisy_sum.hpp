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

/// Adds up what `contribution` writes for each of `count` records, no longer than `clip`, and noise of `noise_multiplier` times the clip. `rows` is the
/// declared number of records.
[[nodiscard]] NoisySum noisy_sum(
    Eigen::Index count, Eigen::Index entries,
    const std::function<void(Eigen::Index, Eigen::Ref<Eigen::ArrayXd>)>& contribution, double clip,
    double noise_multiplier, double rows, NoiseMode mode, ReleaseBits& bits);

/// A vector that moves by at most `sensitivity` between neighbours, with noise that costs `mu` (Spec §22.6, §24.2: rounding adds sqrt(entries)
/// grid units to what it moves).
[[nodiscard]] NoisySum noisy_vector(const Eigen::VectorXd& value, double sensitivity, double mu,
                                    NoiseMode mode, ReleaseBits& bits);

}  // namespace sfumato
