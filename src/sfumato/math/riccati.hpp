#pragma once

#include <Eigen/Core>
#include <optional>

namespace sfumato {

/// X with  A X + X A^T = -Q  for symmetric Q, where all eigenvalues of A have negative real parts (Bartels and
/// Stewart, in the complex Schur form).
[[nodiscard]] Eigen::MatrixXd lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& q);

/// The largest real part of the eigenvalues of a square matrix.
[[nodiscard]] double spectral_abscissa(const Eigen::MatrixXd& a);

/// The largest symmetric solution of  Q - X B - B^T X - X R X = 0  for R > 0, Q >= 0: the one for which -(B + R X)
/// is stable. By the sign function of the Hamiltonian matrix, polished by Newton steps; empty if the Hamiltonian has
/// an eigenvalue on the imaginary axis up to 1e-10 of its norm.
[[nodiscard]] std::optional<Eigen::MatrixXd> stabilising_riccati(const Eigen::MatrixXd& b,
                                                                 const Eigen::MatrixXd& r,
                                                                 const Eigen::MatrixXd& q);

/// e^{A s} and the integral of  e^{A r} R e^{A^T r}  over [0, s], R >= 0: by Taylor series on a short time, then
/// doublings that only add positive matrices, so that neither cancels for small s nor for A that is not normal.
struct Propagated {
  Eigen::MatrixXd flow;
  Eigen::MatrixXd spread;
};
[[nodiscard]] Propagated propagate(const Eigen::MatrixXd& a, const Eigen::MatrixXd& r, double time);

}  // namespace sfumato
