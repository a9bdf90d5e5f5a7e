#include "sfumato/sde/step_noise.hpp"

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSeen = 1e-6;  // of numbers whose fourth digit is read

bool is_rounded(const MatrixXd& matrix, double factor) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i <= j; ++i) {
      const double product = factor * matrix(i, j);
      if (std::fma(factor, matrix(i, j), -product) != 0.0) return true;
    }
  }
  return false;
}

/// By what share of it rounding of the entries may change a variance along some direction.
double rounding_of_variances(const MatrixXd& matrix) {
  const VectorXd unit = matrix.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd correlation = unit.asDiagonal() * matrix * unit.asDiagonal();
  const double least = SymmetricEigen(correlation, SymmetricEigen::Want::values).eigenvalues()(0);
  // Half a unit of rounding of each entry, none of which is above 1.
  return 0.5 * std::numeric_limits<double>::epsilon() * static_cast<double>(matrix.rows()) / least;
}

}  // namespace

Covariance step_noise(const Covariance& sigma, double learning_rate) {
  Covariance step = scaled(sigma, learning_rate);
  const auto* full = std::get_if<Dense>(&sigma);
  // Noise that misses a direction is compared with a tolerance for rank.
  if (full == nullptr || !is_definite(sigma) || !is_rounded(full->matrix, learning_rate)) {
    return step;
  }
  if (const double share = rounding_of_variances(full->matrix); !(share < kSeen)) {
    throw NumericalFailure(
        "the noise is so close to singular that it loses its digits when it is multiplied by the "
        "learning rate",
        "Take a learning rate that is a power of 2, or noise farther from singular",
        Where::here("the noise of a step"));
  }
  return step;
}

}  // namespace sfumato
