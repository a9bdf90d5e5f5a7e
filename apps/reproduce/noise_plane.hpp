#pragma once

#include <Eigen/Core>

namespace sfumato::apps {

/// One point of the noise plane (Spec §13.1): diagonal noise against sensitivities.
struct NoisePlanePoint {
  double privacy_cost;  ///< sum_i S_i^2 / x_i^2; +inf where a sensitive coordinate has no noise
  double trace;         ///< sum_i x_i^2, the accuracy lost
};

/// For Sigma^{1/2} = diag(x). The figure has two coordinates; any number will do.
/// Throws   InvalidArgument if sizes differ, an entry is negative or not finite.
[[nodiscard]] NoisePlanePoint noise_plane_point(const Eigen::VectorXd& sensitivities,
                                                const Eigen::VectorXd& standard_deviations);

}  // namespace sfumato::apps
