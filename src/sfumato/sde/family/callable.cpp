#include "sfumato/sde/family/callable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

Diffusion diffusion_from(Index dimension, PointDrift drift, Noise noise) {
  const Where where = Where::here();
  if (dimension < 1) {
    throw InvalidArgument(fmt::format("dimension = {} is not positive", dimension),
                          "Pass the number of coordinates", where);
  }
  if (!drift) throw InvalidArgument("the drift is empty", "Pass a function", where);
  if (auto* constant = std::get_if<Covariance>(&noise)) {
    require_size("noise", sfumato::dimension(*constant), dimension, where);
    *constant = require_covariance("noise", std::move(*constant), where);
  }
  return {dimension,
          [drift = std::move(drift)](double time, const ConstPoints& at, MutablePoints out) {
            for (Index j = 0; j < at.rows(); ++j) {
              out.row(j) = drift(time, at.row(j).transpose().matrix()).transpose().array();
            }
          },
          std::move(noise)};
}

MatrixNoise with_numerical_divergence(PointCovariance covariance, double relative_step) {
  require_positive("relative_step", relative_step);
  if (!covariance) throw InvalidArgument("the covariance is empty", "Pass a function");
  auto divergence = [covariance, relative_step](double time, const VectorXd& at) {
    VectorXd sum = VectorXd::Zero(at.size());
    VectorXd point = at;
    for (Index j = 0; j < at.size(); ++j) {
      const double step = relative_step * std::max(1.0, std::abs(at(j)));
      const double above = at(j) + step;
      const double below = at(j) - step;
      point(j) = above;
      const VectorXd high = covariance(time, point).col(j);
      point(j) = below;
      const VectorXd low = covariance(time, point).col(j);
      sum += (high - low) / (above - below);  // as rounded, the points are not 2 step apart
      point(j) = at(j);
    }
    return sum;
  };
  return {std::move(covariance), std::move(divergence)};
}

}  // namespace sfumato
