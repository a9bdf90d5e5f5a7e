#pragma once

#include <Eigen/Core>

namespace sfumato {

/// What the bounds from convexity constants need to know about a loss f (Spec §7), proven:
/// kappa I <= Hess f <= lipschitz I everywhere, and where its minimiser x* lies.
struct Convexity {
  double kappa;  ///< >= 0
  double lipschitz;
  Eigen::VectorXd minimiser;  ///< a point near x*
  double gradient_norm;       ///< upper bound on |grad f| there, its rounding included
  double distance;            ///< upper bound on |minimiser - x*|
};

}  // namespace sfumato
