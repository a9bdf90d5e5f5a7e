#include "sfumato/design/stationary_quadratic.hpp"

#include "sfumato/core/check.hpp"

namespace sfumato {

using Eigen::VectorXd;

StationaryQuadraticDesign stationary_quadratic_design(const VectorXd& eigenvalues,
                                                      const VectorXd& minimiser_shift,
                                                      double squared_error) {
  require_size("minimiser_shift", minimiser_shift.size(), eigenvalues.size());
  require_positive("squared_error", squared_error);
  for (const double l : eigenvalues) require_positive("eigenvalue", l);
  for (const double shift : minimiser_shift) require_finite("minimiser_shift", shift);
  const VectorXd lengths = minimiser_shift.cwiseAbs();
  const double total = lengths.sum();
  if (!(total > 0.0)) {
    throw InvalidArgument("the minimisers do not differ", "Nothing needs noise");
  }
  StationaryQuadraticDesign design;
  design.variances = (2.0 * squared_error / total) * eigenvalues.cwiseProduct(lengths);
  design.kl = total * total / (2.0 * squared_error);
  design.isotropic_variance = 2.0 * squared_error / eigenvalues.cwiseInverse().sum();
  design.isotropic_kl = eigenvalues.dot(lengths.cwiseAbs2()) / design.isotropic_variance;
  return design;
}

}  // namespace sfumato
