#pragma once

#include <Eigen/Core>

namespace sfumato {

/// Eigenvalues, ascending, and eigenvectors, by columns, of a symmetric matrix, of which the lower half is read.
/// Eigen's SelfAdjointEigenSolver, compiled once for each of double, long double, Wide and Widest: a source that
/// instantiates it takes five seconds longer, and ten in more digits.
template <class T>
class SymmetricEigenOf {
 public:
  enum class Want { both, values };
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  explicit SymmetricEigenOf(const Matrix& matrix, Want want = Want::both);

  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] const Vector& eigenvalues() const { return values_; }
  /// Empty unless they were wanted.
  [[nodiscard]] const Matrix& eigenvectors() const { return vectors_; }

 private:
  bool converged_;
  Vector values_;
  Matrix vectors_;
};

using SymmetricEigen = SymmetricEigenOf<double>;

struct TridiagonalEigen {
  bool converged = false;
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< by columns
};

/// The eigenpairs of the symmetric matrix with this diagonal and these entries below it, one fewer.
[[nodiscard]] TridiagonalEigen tridiagonal_eigen(const Eigen::VectorXd& diagonal,
                                                 const Eigen::VectorXd& below);

/// The eigenvalues of  a x = lambda b x,  ascending, for symmetric a and positive definite b.
[[nodiscard]] Eigen::VectorXd pencil_eigenvalues(const Eigen::MatrixXd& a,
                                                 const Eigen::MatrixXd& b);

}  // namespace sfumato
