#include "sfumato/sde/family/linear.hpp"

#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace sfumato {

using Eigen::MatrixXd;
using Eigen::VectorXd;

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
          [curvature](const Covariance& metric) { return linear_contraction(curvature, metric); },
          /*autonomous=*/true};
}

}  // namespace sfumato
