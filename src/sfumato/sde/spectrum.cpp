#include "sfumato/sde/spectrum.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What a file with ten printed digits can hold; the same as for covariances.
constexpr double kSymmetryTolerance = 1e-9;

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

Spectrum spectrum_of(const MatrixXd& matrix) {
  if (!has_off_diagonal(matrix)) return {matrix.diagonal(), MatrixXd()};
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
  if (eigen.info() != Eigen::Success) {
    throw NumericalFailure("the eigenvalues of the matrix do not converge",
                           "Check the matrix for entries of extreme size");
  }
  Spectrum spectrum{eigen.eigenvalues(), eigen.eigenvectors()};
  const double rounding = 4.0 * static_cast<double>(matrix.rows()) *
                          std::numeric_limits<double>::epsilon() *
                          spectrum.values.cwiseAbs().maxCoeff();
  for (double& value : spectrum.values) {
    if (std::abs(value) <= rounding) value = 0.0;
  }
  return spectrum;
}

MatrixXd require_symmetric(std::string_view name, const MatrixXd& matrix, const Where& where) {
  if (matrix.rows() != matrix.cols() || matrix.rows() == 0) {
    throw InvalidArgument(
        fmt::format("{} is {} x {}, not a square matrix", name, matrix.rows(), matrix.cols()),
        "Give one row and one column per parameter", where);
  }
  const double largest = matrix.cwiseAbs().maxCoeff();
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      if (!std::isfinite(matrix(i, j))) {
        throw InvalidArgument(
            fmt::format("{}[{}, {}] = {} is not finite", name, i, j, matrix(i, j)),
            "Remove NaN and infinite entries", where);
      }
      if (std::abs(matrix(i, j) - matrix(j, i)) > kSymmetryTolerance * largest) {
        throw InvalidArgument(fmt::format("{} is not symmetric: [{}, {}] = {} but [{}, {}] = {}",
                                          name, i, j, matrix(i, j), j, i, matrix(j, i)),
                              "Give a symmetric matrix", where);
      }
    }
  }
  return 0.5 * matrix + 0.5 * matrix.transpose();
}

void require_finite_entries(std::string_view name, const VectorXd& vector, const Where& where) {
  for (Index i = 0; i < vector.size(); ++i) {
    if (std::isfinite(vector(i))) continue;
    throw InvalidArgument(fmt::format("{}[{}] = {} is not finite", name, i, vector(i)),
                          "Remove NaN and infinite entries", where);
  }
}

}  // namespace sfumato
