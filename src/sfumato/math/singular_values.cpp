#include "sfumato/math/singular_values.hpp"

#include <Eigen/SVD>

namespace sfumato {

Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues();
}

Eigen::MatrixXd polar_factor(const Eigen::MatrixXd& matrix) {
  constexpr unsigned kBoth = Eigen::ComputeFullU | Eigen::ComputeFullV;
  constexpr Eigen::Index kSmall = 40;  // Jacobi's is d^3 with a large factor
  if (matrix.rows() <= kSmall) {
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, kBoth);
    return svd.matrixU() * svd.matrixV().transpose();
  }
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix, kBoth);
  return svd.matrixU() * svd.matrixV().transpose();
}

LeftSingular left_singular(const Eigen::MatrixXd& matrix) {
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixU()};
}

}  // namespace sfumato
