#include "sfumato/math/riccati.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <complex>

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;

/// The sign of a matrix without imaginary eigenvalues, by Newton's iteration scaled with the determinant.
std::optional<MatrixXd> matrix_sign(MatrixXd s) {
  const auto n = static_cast<double>(s.rows());
  constexpr int kMost =
      80;  // quadratic once the scale is right; more means eigenvalues on the axis
  for (int i = 0; i < kMost; ++i) {
    const Eigen::PartialPivLU<MatrixXd> lu(s);
    const double log_det = lu.matrixLU().diagonal().array().abs().log().sum();
    if (!std::isfinite(log_det)) return std::nullopt;
    const double scale = std::exp(-log_det / n);
    const MatrixXd next = 0.5 * (scale * s + lu.inverse() / scale);
    if (!next.allFinite()) return std::nullopt;
    const double change = (next - s).norm();
    s = next;
    if (change <= 1e-12 * s.norm()) return s;
    // The last digits may move for ever in a matrix far from normal: Newton steps follow.
    if (i > 40 && change <= 1e-7 * s.norm()) return s;
  }
  return std::nullopt;
}

}  // namespace

MatrixXd lyapunov(const MatrixXd& a, const MatrixXd& q) {
  const Eigen::ComplexSchur<MatrixXd> schur(a);
  const MatrixXcd& t = schur.matrixT();
  const MatrixXcd& u = schur.matrixU();
  const Index d = a.rows();
  // T Y + Y T^H = -U^H Q U, column by column from the right.
  const MatrixXcd right = -(u.adjoint() * q.cast<std::complex<double>>() * u);
  MatrixXcd y = MatrixXcd::Zero(d, d);
  for (Index j = d - 1; j >= 0; --j) {
    Eigen::VectorXcd column = right.col(j);
    for (Index k = j + 1; k < d; ++k) column -= std::conj(t(j, k)) * y.col(k);
    for (Index i = d - 1; i >= 0; --i) {
      for (Index k = i + 1; k < d; ++k) column(i) -= t(i, k) * y(k, j);
      column(i) /= t(i, i) + std::conj(t(j, j));
      y(i, j) = column(i);
    }
  }
  const MatrixXd x = (u * y * u.adjoint()).real();
  return 0.5 * (x + x.transpose());
}

double spectral_abscissa(const MatrixXd& a) {
  return Eigen::EigenSolver<MatrixXd>(a, false).eigenvalues().real().maxCoeff();
}

std::optional<MatrixXd> stabilising_riccati(const MatrixXd& b, const MatrixXd& r,
                                            const MatrixXd& q) {
  const Index d = b.rows();
  MatrixXd hamiltonian(2 * d, 2 * d);
  hamiltonian << -b, -r, -q, b.transpose();
  const double size = hamiltonian.norm();
  if (!(size > 0.0) || !std::isfinite(size)) return std::nullopt;
  const auto sign = matrix_sign(hamiltonian / size);
  if (!sign) return std::nullopt;
  // The stable subspace is where sign + I vanishes: (sign + I) (I; X) = 0.
  MatrixXd left(2 * d, d), right(2 * d, d);
  left << sign->topRightCorner(d, d), sign->bottomRightCorner(d, d) + MatrixXd::Identity(d, d);
  right << sign->topLeftCorner(d, d) + MatrixXd::Identity(d, d), sign->bottomLeftCorner(d, d);
  MatrixXd x = left.colPivHouseholderQr().solve(-right);
  x = 0.5 * (x + x.transpose()).eval();
  for (int i = 0; i < 3; ++i) {
    const MatrixXd closed = -(b + r * x);
    if (!closed.allFinite() || !(spectral_abscissa(closed) < -1e-10 * size)) return std::nullopt;
    const MatrixXd xb = x * b;
    const MatrixXd residual = q - xb - xb.transpose() - x * r * x;
    x += lyapunov(closed.transpose(), 0.5 * (residual + residual.transpose()));
  }
  return x;
}

Propagated propagate(const MatrixXd& a, const MatrixXd& r, double time) {
  const Index d = a.rows();
  int doublings = 0;
  double step = time;
  for (const double size = a.norm(); size * step > 0.5; step *= 0.5) ++doublings;
  // 0.5^18 / 18! is below the rounding.
  MatrixXd flow = MatrixXd::Identity(d, d), power = flow;
  MatrixXd spread = step * r, moment = spread;
  for (int k = 1; k <= 18; ++k) {
    power = (a * power) * (step / k);
    flow += power;
    // The k-th derivative of the spread is that of the one before, A M + M A^T.
    const MatrixXd am = a * moment;
    moment = (am + am.transpose()) * (step / (k + 1));
    spread += moment;
  }
  for (; doublings > 0; --doublings) {
    spread += (flow * spread * flow.transpose()).eval();
    flow = (flow * flow).eval();
  }
  return {std::move(flow), 0.5 * (spread + spread.transpose())};
}

}  // namespace sfumato
