#include "reproduce/noise_plane.hpp"

#include "sfumato/core/check.hpp"

namespace sfumato::apps {

NoisePlanePoint noise_plane_point(const Eigen::VectorXd& sensitivities,
                                  const Eigen::VectorXd& standard_deviations) {
  require_size("standard_deviations", standard_deviations.size(), sensitivities.size());
  NoisePlanePoint point{0.0, 0.0};
  for (Eigen::Index i = 0; i < sensitivities.size(); ++i) {
    const double s =
        require_finite("sensitivity", require_non_negative("sensitivity", sensitivities(i)));
    const double x = require_finite(
        "standard deviation", require_non_negative("standard deviation", standard_deviations(i)));
    if (s > 0.0) point.privacy_cost += (s / x) * (s / x);
    point.trace += x * x;
  }
  return point;
}

}  // namespace sfumato::apps
