#pragma once

#include <Eigen/Core>

namespace sfumato {

/// Eigenvalues, ascending, and eigenvectors, by columns, of a symmetric matrix, of which the lower half is read.
/// Eigen's SelfAdjointEigenSolver, compiled once: each source that instantiates it takes five seconds longer.
class SymmetricEigen {
 public:
  enum class Want { both, values };

  explicit SymmetricEigen(const Eigen::MatrixXd& matrix, Want want = Want::both);

  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] const Eigen::VectorXd& eigenvalues() const { return values_; }
  /// Empty unless they were wanted.
  [[nodiscard]] const Eigen::MatrixXd& eigenvectors() const { return vectors_; }

 private:
  bool converged_;
  Eigen::VectorXd values_;
  Eigen::MatrixXd vectors_;
};

/// The eigenvalues of  a x = lambda b x,  ascending, for symmetric a and positive definite b.
[[nodiscard]] Eigen::VectorXd pencil_eigenvalues(const Eigen::MatrixXd& a,
                                                 const Eigen::MatrixXd& b);

}  // namespace sfumato
