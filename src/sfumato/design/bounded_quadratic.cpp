#include "sfumato/design/bounded_quadratic.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kSweeps = 30;  // cost as much as a Newton step of 180 variables for every 1000

/// One variable after the other to its minimum or its bound: finds out cheaply which variables end
/// on their bounds. Keeps residual = c - Q x.
void sweep(const MatrixXd& q, const VectorXd& lower, VectorXd& x, VectorXd& residual) {
  for (Index i = 0; i < x.size(); ++i) {
    const double to = std::max(lower(i), x(i) + residual(i) / q(i, i));
    if (to == x(i)) continue;
    residual -= (to - x(i)) * q.col(i);
    x(i) = to;
  }
}

}  // namespace

VectorXd minimise_bounded_quadratic(const MatrixXd& q, const VectorXd& c, const VectorXd& lower,
                                    const VectorXd& start, int steps) {
  VectorXd x = start;
  const double small = 1e-12 * c.cwiseAbs().maxCoeff();
  for (int step = 0; step < steps; ++step) {
    VectorXd residual = c - q * x;
    for (int round = 0; round < kSweeps; ++round) sweep(q, lower, x, residual);
    residual = c - q * x;

    std::vector<Index> free;
    bool done = true;
    for (Index i = 0; i < x.size(); ++i) {
      if (x(i) <= lower(i) && residual(i) <= small) continue;
      free.push_back(i);
      done = done && std::abs(residual(i)) <= small;
    }
    if (done) break;
    const Eigen::LLT<MatrixXd> factor(q(free, free));
    if (factor.info() != Eigen::Success) break;
    const VectorXd move = factor.solve(VectorXd(residual(free)));
    // Along the step, bent at the bounds, as far as the objective falls.
    for (double length = 1.0; length > 1e-3; length *= 0.25) {
      VectorXd to = x;
      for (std::size_t j = 0; j < free.size(); ++j) {
        to(free[j]) += length * move(static_cast<Index>(j));
      }
      to = to.cwiseMax(lower);
      const VectorXd whole = to - x;
      if (whole.dot(0.5 * (q * whole) - residual) < 0.0) {
        x = to;
        break;
      }
    }
  }
  return x;
}

}  // namespace sfumato
