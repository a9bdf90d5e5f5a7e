#include "sfumato/sde/family/mixture.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/contraction.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A component as it is used at every point.
struct Part {
  double log_weight;  ///< log w - 1/2 log det C
  VectorXd mean;
  MatrixXd whitening;  ///< L^{-1} with C = L L^T
};

void check(const GaussianMixture& mixture, double variance, double ridge, const Where& where) {
  if (mixture.components.empty()) {
    throw InvalidArgument("the mixture has no components", "Give at least one", where);
  }
  require_size("weights", static_cast<std::ptrdiff_t>(mixture.weights.size()),
               static_cast<std::ptrdiff_t>(mixture.components.size()), where);
  const Index d = mixture.components.front().mean.size();
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    require_positive(fmt::format("weight {}", k + 1), mixture.weights[k], where);
    const GaussianDistribution& distribution = mixture.components[k];
    require_size(fmt::format("mean {}", k + 1), distribution.mean.size(), d, where);
    require_size(fmt::format("covariance {}", k + 1), dimension(distribution.covariance), d, where);
    require_finite_entries(fmt::format("mean {}", k + 1), distribution.mean, where);
    (void)require_covariance(fmt::format("covariance {}", k + 1), distribution.covariance, where);
    if (!has_full_rank(dense(distribution.covariance))) {
      throw NumericalFailure(fmt::format("covariance {} of the mixture is singular", k + 1),
                             "Give each component a positive variance in every direction", where);
    }
  }
  require_positive("variance", variance, where);
  require_finite("ridge", require_non_negative("ridge", ridge, where), where);
}

}  // namespace

std::optional<HessianBounds> mixture_hessian_bounds(const GaussianMixture& mixture, double variance,
                                                    double ridge) {
  check(mixture, variance, ridge, Where::here());
  const MatrixXd covariance = dense(mixture.components.front().covariance);
  double widest = 0.0;  // D^2
  for (const GaussianDistribution& a : mixture.components) {
    if (dense(a.covariance) != covariance) return std::nullopt;
    for (const GaussianDistribution& b : mixture.components) {
      const VectorXd gap = a.mean - b.mean;
      widest = std::max(widest, gap.dot(solve(a.covariance, gap).col(0)));
    }
  }
  const VectorXd values = SymmetricEigen(covariance, SymmetricEigen::Want::values).eigenvalues();
  // 1e-12 against the rounding of the eigenvalues and of D.
  const double widened = 1.0 - 0.25 * widest * (1.0 + 1e-12) - 1e-12;
  const double half = 0.5 * variance;
  const double kappa =
      ridge + half * widened / (widened >= 0.0 ? values.maxCoeff() : values.minCoeff());
  return HessianBounds{kappa - 1e-12 * std::abs(kappa),
                       (ridge + half / values.minCoeff()) * (1.0 + 1e-12)};
}

Diffusion mixture_diffusion(const GaussianMixture& mixture, double variance, double ridge) {
  check(mixture, variance, ridge, Where::here());
  const Index d = mixture.components.front().mean.size();
  std::vector<Part> parts;
  for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
    const GaussianDistribution& distribution = mixture.components[k];
    const Eigen::LLT<MatrixXd> cholesky(dense(distribution.covariance));
    parts.push_back({std::log(mixture.weights[k]) - 0.5 * log_det(distribution.covariance),
                     distribution.mean, cholesky.matrixL().solve(MatrixXd::Identity(d, d))});
  }
  const double half = 0.5 * variance;
  Diffusion diffusion{
      d,
      [parts, half, ridge](double /*time*/, const ConstPoints& at, MutablePoints out) {
        const Index n = at.rows();
        // -grad f = variance/2 sum_k r_k C_k^{-1} (m_k - x) - ridge x, r_k the weights at x. The
        // largest logarithm so far is kept out of the sums, which are rescaled when it grows.
        ArrayXd largest = ArrayXd::Constant(n, -std::numeric_limits<double>::infinity());
        ArrayXd total = ArrayXd::Zero(n);
        out.setZero();
        for (const Part& part : parts) {
          const MatrixXd centred = at.matrix().rowwise() - part.mean.transpose();
          const MatrixXd whitened = centred * part.whitening.transpose();
          const ArrayXd log_density =
              part.log_weight - 0.5 * whitened.rowwise().squaredNorm().array();
          const ArrayXd larger = largest.max(log_density);
          const ArrayXd old = (largest - larger).exp();
          const ArrayXd fresh = (log_density - larger).exp();
          out = out.colwise() * old - (whitened * part.whitening).array().colwise() * fresh;
          total = total * old + fresh;
          largest = larger;
        }
        out = out.colwise() * (half / total) - ridge * at;
      },
      Isotropic{variance, d}};
  diffusion.autonomous = true;
  if (const auto bounds = mixture_hessian_bounds(mixture, variance, ridge)) {
    diffusion.contraction = [bounds = *bounds](const Covariance& metric) {
      return hessian_contraction(bounds.kappa, bounds.lipschitz, metric);
    };
  }
  return diffusion;
}

}  // namespace sfumato
