#include "sfumato/sde/family/linear.hpp"

#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// linear_contraction, but with the digits that the smallest eigenvalue of A has in the loss as it was
/// given: in an isotropic metric it is the constant.
double contraction_of(const OuProcess& process, const Covariance& metric) {
  if (!isotropic_variance(metric)) return linear_contraction(process.curvature, metric);
  const OuDistribution distribution(process,
                                    point_distribution(VectorXd::Zero(process.pull.size())));
  if (!distribution.lost_digits()) return linear_contraction(process.curvature, metric);
  const double least = distribution.spectrum().values.minCoeff();
  return least - 1e-14 * std::abs(least);  // rounded once
}

}  // namespace

Diffusion linear_diffusion(const OuProcess& process) {
  const Where where = Where::here();
  const MatrixXd curvature = require_symmetric("curvature", process.curvature, where);
  require_size("pull", process.pull.size(), curvature.rows(), where);
  require_size("noise", dimension(process.noise), curvature.rows(), where);
  require_finite_entries("pull", process.pull, where);
  Covariance noise = require_covariance("noise", process.noise, where);
  Field drift;
  if (curvature.isDiagonal(0.0)) {
    drift = [rates = VectorXd(curvature.diagonal()), pull = process.pull](
                double /*time*/, const ConstPoints& at, MutablePoints out) {
      for (Eigen::Index i = 0; i < at.cols(); ++i) {
        out.col(i) = pull(i) - rates(i) * at.col(i);
      }
    };
  } else {
    drift = linear_drift(curvature, process.pull);
  }
  return {curvature.rows(), std::move(drift), std::move(noise),
          [process](const Covariance& metric) { return contraction_of(process, metric); },
          /*autonomous=*/true};
}

}  // namespace sfumato
