#pragma once

#include <Eigen/Core>

#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// sum x x^T with noise, published (Spec §22.2).
struct NoisyMoments {
  Eigen::MatrixXd sum;  ///< symmetric; may have negative eigenvalues
  double noise_std;     ///< on the diagonal; off it 1 / sqrt 2 of that
};

/// The rows whose second moments are released, and what the release may cost.
struct MomentsBudget {
  double bound;  ///< no row is longer
  double mu;     ///< of Gaussian privacy
  double rows;   ///< the declared number, at least that of the matrix
};

/// Where the noise of a release comes from, and for which neighbours it is enough.
struct ReleaseNoise {
  NeighbouringRelation relation;
  NoiseMode mode;
  ReleaseBits& bits;
};

/// Releases the second moments of rows. On a grid the sum is exact: the same bits in any order of the rows and with any number of threads.
/// Throws   InvalidArgument as moment_grid(); Stopped if the observer asks to stop.
[[nodiscard]] NoisyMoments release_moments(const RowMajor& x, const MomentsBudget& budget,
                                           const ReleaseNoise& noise, Observer& observer);

/// The same with Gaussian noise, for a sum of positive semi-definite matrices, one for each record, with traces of at most bound^2, of which the lower
/// half is given: their Frobenius norms are no larger, and two of them are no further apart than sqrt 2 times that.
[[nodiscard]] NoisyMoments noisy_moments(Eigen::MatrixXd lower, double bound, double mu,
                                         NeighbouringRelation relation, ReleaseBits& bits);

}  // namespace sfumato
