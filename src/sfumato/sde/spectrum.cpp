#include "sfumato/sde/spectrum.hpp"

#include <cmath>
#include <limits>

#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool has_off_diagonal(const MatrixXd& matrix) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = j + 1; i < matrix.rows(); ++i) {
      if (matrix(i, j) != 0.0) return true;
    }
  }
  return false;
}

}  // namespace

VectorXd Spectrum::to_eigenbasis(const VectorXd& x) const {
  if (is_diagonal()) return x;
  return vectors.transpose() * x;
}

VectorXd Spectrum::from_eigenbasis(const VectorXd& x) const {
  if (is_diagonal()) return x;
  return vectors * x;
}

MatrixXd Spectrum::rotated(const Covariance& covariance) const {
  if (is_diagonal()) return dense(covariance);
  return vectors.transpose() * multiply(covariance, vectors);
}

double rounding_of(const Spectrum& spectrum) {
  return 4.0 * static_cast<double>(spectrum.values.size()) *
         std::numeric_limits<double>::epsilon() * spectrum.values.cwiseAbs().maxCoeff();
}

Spectrum spectrum_of(const MatrixXd& matrix) {
  if (!has_off_diagonal(matrix)) return {matrix.diagonal(), MatrixXd()};
  const SymmetricEigen eigen(matrix);
  if (!eigen.converged()) {
    throw NumericalFailure("the eigenvalues of the matrix do not converge",
                           "Check the matrix for entries of extreme size");
  }
  Spectrum spectrum{eigen.eigenvalues(), eigen.eigenvectors()};
  const double rounding = rounding_of(spectrum);
  for (double& value : spectrum.values) {
    if (std::abs(value) <= rounding) value = 0.0;
  }
  return spectrum;
}

}  // namespace sfumato
