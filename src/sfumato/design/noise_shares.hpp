#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/design/budget.hpp"

namespace sfumato {

/// Where the noise of a design goes.
struct NoiseShare {
  Eigen::Index index;  ///< of the coordinate or group
  double variance;     ///< of the coordinate; mean over the group
  double share;        ///< of tr(W Sigma), by the diagonal entries of W Sigma; they add up to 1
};

/// The `count` coordinates with the largest shares, largest first; ties by index.
[[nodiscard]] std::vector<NoiseShare> largest_coordinates(const Covariance& covariance,
                                                          const Covariance& weights,
                                                          Eigen::Index count);

/// The same for groups of coordinates, numbered from 0 in `groups`.
/// Throws   InvalidArgument if `groups` has not one number >= 0 for each coordinate.
[[nodiscard]] std::vector<NoiseShare> largest_groups(const Covariance& covariance,
                                                     const Covariance& weights,
                                                     const std::vector<Eigen::Index>& groups,
                                                     Eigen::Index count);

}  // namespace sfumato
