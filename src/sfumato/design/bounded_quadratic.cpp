#include "sfumato/design/bounded_quadratic.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>
#include <vector>

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Whether some variable on its bound would lower the objective inside.
bool can_leave(const MatrixXd& q, const VectorXd& c, const VectorXd& lower, const VectorXd& x) {
  const VectorXd residual = c - q * x;
  const double scale = 1e-12 * c.cwiseAbs().maxCoeff();
  return ((x.array() <= lower.array()) && (residual.array() > scale)).any();
}

}  // namespace

VectorXd minimise_bounded_quadratic(const MatrixXd& q, const VectorXd& c, const VectorXd& lower,
                                    const VectorXd& start, int steps) {
  VectorXd x = start;
  for (int step = 0; step < steps; ++step) {
    const VectorXd residual = c - q * x;
    std::vector<Index> free;
    for (Index i = 0; i < x.size(); ++i) {
      if (x(i) > lower(i) || residual(i) > 0.0) free.push_back(i);
    }
    if (free.empty()) break;
    // A variable on its bound may be pulled inwards by the gradient and yet outwards by the step,
    // because of the others: it stays where it is.
    VectorXd move;
    for (bool settled = false; !settled;) {
      const Eigen::LLT<MatrixXd> factor(q(free, free));
      if (factor.info() != Eigen::Success) return x;
      move = factor.solve(VectorXd(residual(free)));
      std::vector<Index> kept;
      for (std::size_t j = 0; j < free.size(); ++j) {
        const Index i = free[j];
        if (x(i) > lower(i) || move(static_cast<Index>(j)) >= 0.0) kept.push_back(i);
      }
      settled = kept.size() == free.size();
      free = std::move(kept);
      if (free.empty()) return x;
    }

    VectorXd projected = x;
    for (std::size_t j = 0; j < free.size(); ++j) projected(free[j]) += move(static_cast<Index>(j));
    const bool crosses = (projected.array() < lower.array()).any();
    projected = projected.cwiseMax(lower);
    // f(y) - f(x) = (y - x)^T (Q (y - x) / 2 - residual), without the common part of both.
    const VectorXd whole = projected - x;
    if (!crosses && !can_leave(q, c, lower, projected)) return projected;
    if (whole.dot(0.5 * (q * whole) - residual) < 0.0) {
      x = projected;
      continue;
    }
    double length = 1.0;
    for (std::size_t j = 0; j < free.size(); ++j) {
      const double m = move(static_cast<Index>(j));
      if (m < 0.0) length = std::min(length, (lower(free[j]) - x(free[j])) / m);
    }
    for (std::size_t j = 0; j < free.size(); ++j) {
      x(free[j]) += length * move(static_cast<Index>(j));
    }
    x = x.cwiseMax(lower);
  }
  return x;
}

}  // namespace sfumato
