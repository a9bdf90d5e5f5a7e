#include "sfumato/divergence/fisher_information.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd symmetric(const MatrixXd& m) { return 0.5 * (m + m.transpose()); }

double largest_eigenvalue(const MatrixXd& m) {
  return SymmetricEigen(m, SymmetricEigen::Want::values).eigenvalues()(m.rows() - 1);
}

Eigen::LLT<MatrixXd> factored(const MatrixXd& noise) {
  Eigen::LLT<MatrixXd> cholesky(noise);
  if (cholesky.info() != Eigen::Success) {
    throw NumericalFailure("the noise covariance is singular",
                           "Add noise to the directions that have none",
                           Where::here("Fisher information"));
  }
  return cholesky;
}

}  // namespace

FisherStep fisher_step(const FisherInformation& fisher, const MatrixXd& slope,
                       const MatrixXd& spread, const MatrixXd& noise) {
  const Eigen::LLT<MatrixXd> s = factored(noise);
  const Index d = noise.rows();
  const MatrixXd identity = MatrixXd::Identity(d, d);
  if (!fisher) return {symmetric(s.solve(identity)), MatrixXd::Zero(d, d)};
  const MatrixXd pulled = s.solve(slope);  // S^{-1} A
  const MatrixXd sum = slope.transpose() * pulled + spread + *fisher;
  const MatrixXd gain = Eigen::LDLT<MatrixXd>(symmetric(sum)).solve(pulled.transpose());
  // E (I - DT g)^T S^{-1} (I - DT g) is a square at the mean slope plus g^T spread g: sums of squares, so that a gain
  // that is rounded costs nothing.
  const MatrixXd rest = s.matrixL().solve(identity - slope * gain);
  return {symmetric(gain.transpose() * (*fisher + spread) * gain + rest.transpose() * rest), gain};
}

FisherFlow::FisherFlow(const MatrixXd& drift, const MatrixXd& spread, const MatrixXd& noise) {
  // In coordinates in which the noise is I the equation is as well conditioned as the drift.
  const Eigen::LLT<MatrixXd> factor = factored(noise);
  const MatrixXd root = factor.matrixL();
  const Index d = noise.rows();
  const MatrixXd identity = MatrixXd::Identity(d, d);
  const MatrixXd b = factor.matrixL().solve(drift * root);
  const MatrixXd q = symmetric(root.transpose() * spread * root);
  const auto refuse = [](const char* why) {
    throw NumericalFailure(why,
                           "Give every direction a drift that pulls back, or ask for a finite time",
                           Where::here("Fisher information"));
  };
  const std::optional<MatrixXd> found = stabilising_riccati(b, identity, q);
  if (!found) refuse("a direction neither contracts nor expands, so that there is no limit");
  // Every c X with c >= 1 has the residual (1 - c) (Q + c X R X) < 0; what rounding may do to it is smaller.
  bool proven = false;
  for (double more = 1e-12; more <= 1e-4 && !proven; more *= 10.0) {
    const MatrixXd x = (1.0 + more) * *found;
    const MatrixXd xb = x * b;
    const MatrixXd residual = q - xb - xb.transpose() - x * x;
    const double rounding =
        4e-16 * static_cast<double>(d) * (q.norm() + 2.0 * x.norm() * b.norm() + x.squaredNorm());
    const double least =
        SymmetricEigen(symmetric(residual), SymmetricEigen::Want::values).eigenvalues()(d - 1);
    proven = x.allFinite() && least <= -rounding;
    // In one dimension, and where all rates are alike, rounding is far below what the enlargement gives.
    if (proven) {
      noise_ = noise;
      closed_ = root * (-(b + x)) * factor.matrixL().solve(identity);
      const MatrixXd half = factor.matrixU().solve(x);
      limit_ = symmetric(factor.matrixU().solve(half.transpose()));
    }
  }
  if (!proven)
    refuse("rounding leaves no matrix that is proven to be above the Fisher information");
}

MatrixXd FisherFlow::at(double time, const FisherInformation& start) const {
  require_non_negative("time", time);
  const Index d = noise_.rows();
  if (time == kInf) return limit_;
  if (time == 0.0) {
    if (!start)
      throw InvalidArgument("the Fisher information of a point is infinite",
                            "Ask for a later time");
    return *start;
  }
  // Z = Y - X solves Z' = Z Ac + Ac^T Z - Z R Z. From there: E^T Z_0 (I + G Z_0)^{-1} E with E = e^{Ac s} and G the
  // noise that the closed loop has spread; exponentials of -Ac would lose everything once they are large.
  const Propagated moved = propagate(closed_, noise_, time);
  MatrixXd inner;
  if (!start) {
    inner = Eigen::LDLT<MatrixXd>(moved.spread).solve(moved.flow);
  } else {
    const MatrixXd gap = *start - limit_;
    const MatrixXd sum = MatrixXd::Identity(d, d) + gap * moved.spread;
    inner = Eigen::PartialPivLU<MatrixXd>(sum).solve(gap * moved.flow);
  }
  return symmetric(limit_ + moved.flow.transpose() * inner);
}

double FisherFlow::age_of(const FisherInformation& start) const {
  if (!start) return 0.0;
  const auto above = [&](const MatrixXd& y) {
    return largest_eigenvalue(symmetric(*start - y)) <= 0.0;
  };
  if (above(limit_)) return kInf;
  const double rate = closed_.norm();
  double low = 1.0 / rate, high = low;
  while (above(at(high, std::nullopt))) {
    low = high;
    high *= 2.0;
    if (high > 1e6 / rate) return low;
  }
  while (!above(at(low, std::nullopt))) {  // a narrow start is very young
    high = low;
    low *= 0.5;
    if (low < 1e-18 / rate) return 0.0;
  }
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (above(at(middle, std::nullopt)) ? low : high) = middle;
  }
  return low;
}

MatrixXd fisher_lower(const MatrixXd& mean_gradient, const MatrixXd& second_moment) {
  const Eigen::LDLT<MatrixXd> g(symmetric(second_moment));
  return symmetric(mean_gradient.transpose() * g.solve(mean_gradient));
}

VectorXd shift_weight(const std::vector<MatrixXd>& shifts, const std::vector<MatrixXd>& slopes,
                      const std::vector<VectorXd>& normals, const MatrixXd& root,
                      const VectorXd& start_score) {
  require_size("shifts", static_cast<std::ptrdiff_t>(shifts.size()),
               static_cast<std::ptrdiff_t>(normals.size()) + 1);
  require_size("slopes", static_cast<std::ptrdiff_t>(slopes.size()),
               static_cast<std::ptrdiff_t>(normals.size()));
  const Eigen::PartialPivLU<MatrixXd> transposed(root.transpose());
  VectorXd weight = shifts.front().transpose() * start_score;
  for (std::size_t k = 0; k < normals.size(); ++k) {
    const MatrixXd change = shifts[k + 1] - slopes[k] * shifts[k];
    weight -= change.transpose() * transposed.solve(normals[k]);
  }
  return weight;
}

}  // namespace sfumato
