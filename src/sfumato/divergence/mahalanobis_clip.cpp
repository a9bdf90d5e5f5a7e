#include "sfumato/divergence/mahalanobis_clip.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {

ClippedGradient mahalanobis_clip(const Eigen::VectorXd& gradient, const Covariance& covariance,
                                 double clip_norm) {
  const Where where = Where::here();
  require_positive("clip_norm", clip_norm, where);
  require_size("covariance", dimension(covariance), gradient.size(), where);
  for (const double value : gradient) require_finite("gradient", value, where);
  const double square = gradient.dot(solve(covariance, gradient).col(0));
  const double norm = std::sqrt(std::max(square, 0.0));
  if (norm <= clip_norm) return {norm, gradient};
  return {norm, gradient * (clip_norm / norm)};
}

}  // namespace sfumato
