#include "sfumato/fit/table_units.hpp"

#include <variant>

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LinearModel in_units_of_table(const PrivateFit& fit, const PublicTable& table, FitModel model) {
  const Index d = table.dim();
  // Original parameters = change * parameters + shift, the intercept last; without one, it is what the middles of the ranges leave.
  const Index slopes = table.intercept ? d - 1 : d;
  MatrixXd change = MatrixXd::Zero(slopes + 1, d);
  Index at = 0;
  for (const FeatureColumn& column : table.features) {
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      const double half = 0.5 * numeric->high - 0.5 * numeric->low;
      const double middle = 0.5 * numeric->low + 0.5 * numeric->high;
      change(at, at) = 1.0 / half;
      change(slopes, at) = -middle / half;
    } else {
      change(at, at) = 1.0;
    }
    const Index next = at + width_of(column);
    for (++at; at < next; ++at) change(at, at) = 1.0;
  }
  if (table.intercept) change(slopes, d - 1) = 1.0;
  const MatrixXd all = change * fit.parameters;
  LinearModel linear;
  linear.features = table.parameters();
  if (table.intercept) linear.features.pop_back();
  linear.coefficients = all.topRows(slopes);
  linear.intercept = all.row(slopes).transpose();
  if (model == FitModel::ridge) {
    linear.intercept.array() += 0.5 * table.target_low + 0.5 * table.target_high;
  }
  if (fit.covariance) {
    linear.errors = (change * *fit.covariance * change.transpose()).diagonal().cwiseSqrt();
  }
  return linear;
}

}  // namespace sfumato
