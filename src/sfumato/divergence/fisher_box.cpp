#include "sfumato/divergence/fisher_box.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/minimise.hpp"
#include "sfumato/divergence/shift_bound.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd inverse_symmetric_root(const Covariance& noise) {
  const MatrixXd sigma = dense(noise);
  if (!is_definite(noise)) {
    throw NumericalFailure("the noise covariance is singular",
                           "Add noise to the directions that have none",
                           Where::here("Fisher information"));
  }
  if (sigma.isDiagonal(0.0)) return sigma.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  const SymmetricEigen eigen(sigma);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal() *
         eigen.eigenvectors().transpose();
}

/// delta for kappa >= 0 constant in time: (delta^2/kappa) tanh(kappa t/2), delta^2 t/2 at kappa = 0.
double constant_rate_bound(double squared, double kappa, double time) {
  if (time == kInf) return squared == 0.0 ? 0.0 : squared / kappa;
  const double half = 0.5 * kappa * time;
  return half < 1e-8 ? 0.5 * squared * time : squared / kappa * std::tanh(half);
}

}  // namespace

MatrixXd jacobian_spread(const MatrixXd& radii, const Covariance& noise) {
  // |Sigma^{-1/2} (Db - B) v| <= W |v| entry by entry, and v^T S v <= sum_i v_i^2 sum_j S_ij for S = W^T W.
  const MatrixXd w = inverse_symmetric_root(noise).cwiseAbs() * radii;
  return (w.transpose() * (w * VectorXd::Ones(radii.cols()))).asDiagonal();
}

HessianSpread hessian_spread(const MatrixXd& lower, const MatrixXd& upper,
                             const Covariance& noise) {
  const MatrixXd gap = upper - lower;
  const VectorXd values = pencil_eigenvalues(0.5 * (gap + gap.transpose()), dense(noise));
  const double rounding = 1e-14 * values.cwiseAbs().maxCoeff();
  if (values(0) < -rounding) {
    throw InvalidArgument("the lower bound of the Hessian is not below the upper bound",
                          "Give lower <= Hess f <= upper as symmetric matrices");
  }
  const double omega = std::max(0.0, values(values.size() - 1));
  return {omega, 0.25 * omega * gap};
}

FisherFlow fisher_box(const MatrixXd& middle, const MatrixXd& spread, const Covariance& noise,
                      double theta) {
  require_positive("theta", theta);
  if (spread.isZero(0.0)) return FisherFlow(middle, spread, dense(noise));
  return FisherFlow(middle, (1.0 + 1.0 / theta) * spread, dense(noise) / (1.0 + theta));
}

double best_flow_bound(const MatrixXd& middle, const MatrixXd& spread, const Covariance& noise,
                       const MatrixXd& weight,
                       const std::function<double(const FisherFlow&)>& bound, std::string& reason) {
  const auto with_theta = [&](double log_theta, bool limit_only) {
    try {
      const FisherFlow flow = fisher_box(middle, spread, noise, std::exp(log_theta));
      return limit_only ? weight.cwiseProduct(flow.limit()).sum() : bound(flow);
    } catch (const NumericalFailure& failure) {
      reason = failure.advice();
      return kInf;
    }
  };
  if (spread.isZero(0.0)) return with_theta(0.0, false);
  // The limit decides which theta is best at long times; a few around it are tried, fewer where each takes long.
  const LeastValue least =
      minimise([&](double t) { return with_theta(t, true); }, std::log(1e-3), std::log(1e2));
  constexpr Index kSmall = 12;
  const std::vector<double> tried =
      middle.rows() <= kSmall ? std::vector<double>{-0.4, 0.0, 0.4, 1.0} : std::vector<double>{0.2};
  double best = kInf;
  for (const double factor : tried) best = std::min(best, with_theta(least.at + factor, false));
  return best;
}

double flow_shift_bound(const FisherFlow& flow, const FisherInformation& start,
                        const Covariance& noise, const MatrixXd& weight, double scale,
                        const std::function<double(double time, double fisher)>& delta,
                        double kappa, double time) {
  const auto fisher_at = [&](double s) {
    const MatrixXd fisher = flow.at(s, start);
    const double rounding = 1e-15 * static_cast<double>(fisher.rows()) * weight.norm();
    return std::max(0.0, weight.cwiseProduct(fisher).sum()) + rounding * fisher.norm();
  };
  const double closed = flow.closed_loop().norm();
  scale = std::min(scale, start ? 1.0 / (closed + 1e-12 / time) : 1e-2 / (closed + 1.0 / time));
  if (start) {
    const MatrixXd root = Eigen::LLT<MatrixXd>(dense(noise)).matrixL();
    const MatrixXd scaled_start = root.transpose() * *start * root;
    scale = std::min(scale, 1.0 / SymmetricEigen(scaled_start, SymmetricEigen::Want::values)
                                      .eigenvalues()(start->rows() - 1));
  }
  if (time < kInf) scale = std::min(scale, time);
  const double limit = time < kInf ? kInf : delta(kInf, fisher_at(kInf));
  return shift_bound({[&](double s) { return delta(s, fisher_at(s)); }, scale, limit}, kappa, time);
}

ConstantsBound constants_bound(const FisherFlow& flow, const FisherInformation& start,
                               const MatrixXd& weight, double drift_part, double kappa,
                               double time) {
  require_finite("kappa", require_non_negative("kappa", kappa));
  require_finite("time", require_non_negative("time", time));
  const auto squared = [&](const MatrixXd& j) {
    return drift_part + std::max(0.0, weight.cwiseProduct(j).sum());
  };
  ConstantsBound result{weight.cwiseProduct(flow.limit()).sum(), flow.age_of(start), 0.0, 0.0};
  if (result.age == kInf) {
    const double rate = squared(flow.limit());
    result.delta_end = std::sqrt(rate);
    result.bound = constant_rate_bound(rate, kappa, time);
    return result;
  }
  const auto at = [&](double s) {
    return std::sqrt(squared(flow.at(result.age + s, std::nullopt)));
  };
  result.delta_end = at(time);
  const double scale = std::max(result.age, 1e-3 / std::max(flow.closed_loop().norm(), 1.0 / time));
  result.bound = shift_bound({at, scale, kInf}, kappa, time);
  return result;
}

IsotropicBound isotropic_constants_bound(double noise, double noise_prime, double lipschitz,
                                         double kappa_prime, double drift, Index dimension,
                                         double time) {
  require_positive("sigma", noise);
  require_positive("sigma_prime", noise_prime);
  require_finite("L", require_non_negative("L", lipschitz));
  require_finite("kappa_prime", require_non_negative("kappa_prime", kappa_prime));
  require_finite("drift", require_non_negative("drift", drift));
  require_non_negative("time", time);
  const double score = std::abs(noise_prime - noise) * (noise_prime + noise) /
                       (noise * noise_prime) *
                       std::sqrt(0.5 * static_cast<double>(dimension) * lipschitz);
  const double delta = drift + score;
  return {static_cast<double>(dimension) * 2.0 * lipschitz / (noise * noise), delta,
          constant_rate_bound(delta * delta, kappa_prime, time)};
}

}  // namespace sfumato
