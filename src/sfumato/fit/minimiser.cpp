#include "sfumato/fit/minimiser.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

struct Point {
  double value;
  VectorXd slope;      ///< of each row's loss in z.u, weighted
  VectorXd curvature;  ///< likewise
};

/// log(1 + e^x)
double log1p_exp(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

Point look(const RowMajor& z, const VectorXd& target, const VectorXd& weights,
           const BoundedLoss& loss, const VectorXd& u) {
  const VectorXd scores = z * u;
  Point point{0.0, VectorXd(z.rows()), VectorXd(z.rows())};
  for (Index i = 0; i < z.rows(); ++i) {
    const double w = weights(i), y = target(i), s = scores(i);
    if (loss.model == FitModel::ridge) {
      const double r = s - y, c = loss.threshold;
      const bool inside = std::abs(r) <= c;
      point.value += w * (inside ? 0.5 * r * r : c * (std::abs(r) - 0.5 * c));
      point.slope(i) = w * std::clamp(r, -c, c);
      point.curvature(i) = inside ? w : 0.0;
    } else {
      const double p = 1.0 / (1.0 + std::exp(-s));
      point.value += y < 0.0 ? 0.0 : w * (log1p_exp(s) - y * s);
      point.slope(i) = y < 0.0 ? 0.0 : w * (p - y);
      point.curvature(i) = y < 0.0 ? 0.0 : w * p * (1.0 - p);
    }
  }
  point.value = point.value / loss.rows + 0.5 * loss.ridge * u.squaredNorm();
  return point;
}

VectorXd weights_of(const RowMajor& z, const BoundedLoss& loss) {
  VectorXd weights = z.rowwise().norm();
  for (double& w : weights) w = w > loss.row_bound ? loss.row_bound / w : 1.0;
  return weights;
}

MatrixXd hessian_of(const RowMajor& z, const Point& point, const BoundedLoss& loss) {
  MatrixXd hessian = z.transpose() * point.curvature.asDiagonal() * z / loss.rows;
  hessian.diagonal().array() += loss.ridge;
  return hessian;
}

}  // namespace

double BoundedLoss::rounding(double dim) const {
  // Each of the sums over rows rounds by less than (rows + dims) units of the last place of its largest partial sum. Of the rows that there can be:
  // whether the tolerance is met must not depend on how many there are.
  return 0x1p-50 * (most_rows + dim) * (most_rows / rows) * gradient_bound();
}

VectorXd minimise(const RowMajor& z, const VectorXd& target, const BoundedLoss& loss,
                  double tolerance, Observer& observer) {
  const Index d = z.cols();
  const VectorXd weights = weights_of(z, loss);
  VectorXd u = VectorXd::Zero(d);
  Point here = look(z, target, weights, loss, u);
  const double rounding = loss.rounding(static_cast<double>(d));
  for (int iteration = 0; iteration < 200; ++iteration) {
    throw_if_stopped(observer);
    const VectorXd gradient = z.transpose() * here.slope / loss.rows + loss.ridge * u;
    if (gradient.norm() + rounding <= tolerance) return u;
    const VectorXd step = hessian_of(z, here, loss).ldlt().solve(gradient);
    double size = 1.0;
    for (int halving = 0; halving < 60; ++halving, size *= 0.5) {
      const VectorXd tried = u - size * step;
      Point there = look(z, target, weights, loss, tried);
      if (there.value <= here.value - 1e-4 * size * gradient.dot(step) ||
          std::abs(there.value - here.value) <= 1e-13 * std::abs(here.value)) {
        u = tried;
        here = std::move(there);
        break;
      }
    }
  }
  throw NumericalFailure("the minimiser was not found to the precision that its guarantee needs",
                         "Nothing was released: raise the ridge or use another mechanism");
}

VectorXd shifts_without_rows(const RowMajor& z, const VectorXd& target, const BoundedLoss& loss,
                             const VectorXd& u) {
  const Point here = look(z, target, weights_of(z, loss), loss, u);
  const MatrixXd inverse =
      hessian_of(z, here, loss).ldlt().solve(MatrixXd::Identity(z.cols(), z.cols()));
  VectorXd shifts(z.rows());
  for (Index i = 0; i < z.rows(); ++i) {
    const VectorXd moved = inverse * z.row(i).transpose();
    // (H - c z z^T / N)^{-1} g z / N by Sherman and Morrison.
    const double left = 1.0 - here.curvature(i) * z.row(i).dot(moved) / loss.rows;
    shifts(i) = std::abs(here.slope(i)) / loss.rows * moved.norm() / left;
  }
  return shifts;
}

}  // namespace sfumato
