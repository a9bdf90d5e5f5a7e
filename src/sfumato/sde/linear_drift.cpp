#include "sfumato/sde/linear_drift.hpp"

#include <fmt/format.h>

#include "sfumato/core/check.hpp"
#include "sfumato/sde/point_kernels.hpp"

namespace sfumato {

Field linear_drift(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& pull) {
  const Where where = Where::here();
  require_size("the columns of the curvature", curvature.cols(), curvature.rows(), where);
  require_size("pull", pull.size(), curvature.rows(), where);
  if (!curvature.allFinite() || !pull.allFinite()) {
    throw InvalidArgument("curvature or pull has an entry that is not finite", "Check the data",
                          where);
  }
  return [matrix = Eigen::MatrixXd(-curvature), pull](double /*time*/, const ConstPoints& at,
                                                      MutablePoints out) {
    linear_map(matrix, pull, at, out);
  };
}

Field polynomial_drift(const std::vector<double>& coefficients, const Where& where) {
  if (coefficients.empty()) {
    throw InvalidArgument("a polynomial without coefficients", "Pass {0} for no drift", where);
  }
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    require_finite(fmt::format("coefficient {} of the drift", k), coefficients[k], where);
  }
  return [coefficients](double /*time*/, const ConstPoints& at, MutablePoints out) {
    polynomial(coefficients, static_cast<std::size_t>(at.rows()), at.data(), out.data());
  };
}

}  // namespace sfumato
