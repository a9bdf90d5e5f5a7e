#include "sfumato/sde/minibatch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd centred(const MatrixXd& gradients) {
  return gradients.rowwise() - gradients.colwise().mean();
}

MatrixXd gram(const MatrixXd& rows, double factor) {
  MatrixXd result = MatrixXd::Zero(rows.cols(), rows.cols());
  result.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose(), factor);
  result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
  return result;
}

}  // namespace

double minibatch_factor(Index rows, const MinibatchOptions& options, const Where& where) {
  if (rows < 1) throw InvalidArgument("there are no rows", "Give at least one gradient", where);
  if (options.batch < 1) {
    throw InvalidArgument(fmt::format("batch = {} is not positive", options.batch),
                          "Draw at least one row", where);
  }
  const bool without = options.sampling == BatchSampling::without_replacement;
  if (without && options.batch > rows) {
    throw InvalidArgument(
        fmt::format("batch = {} of {} rows without replacement", options.batch, rows),
        "Draw at most all rows, or draw with replacement", where);
  }
  const auto all = static_cast<double>(rows);
  const auto drawn = static_cast<double>(options.batch);
  double factor = all / drawn;  // (N^2/n) (1/N)
  if (without) factor *= rows == 1 ? 0.0 : (all - drawn) / (all - 1.0);
  return options.loss == LossScale::mean ? factor / (all * all) : factor;
}

Covariance minibatch_covariance(const MatrixXd& row_gradients, const MinibatchOptions& options) {
  const Where where = Where::here();
  const Index rows = row_gradients.rows();
  const double factor = minibatch_factor(rows, options, where);
  if (!row_gradients.allFinite()) {
    throw InvalidArgument("a gradient has an entry that is not finite",
                          "Check the point at which the gradients are taken", where);
  }
  const MatrixXd deviations = centred(row_gradients);
  if (rows - 1 < row_gradients.cols()) {
    return Factored{VectorXd::Zero(row_gradients.cols()),
                    std::sqrt(factor) * deviations.transpose()};
  }
  return Dense{gram(deviations, factor)};
}

Covariance minibatch_step_covariance(const Covariance& estimator, double learning_rate) {
  require_positive("learning_rate", learning_rate);
  return scaled(estimator, learning_rate * learning_rate);
}

Covariance minibatch_diffusion_covariance(const Covariance& estimator, double learning_rate) {
  return scaled(estimator, require_positive("learning_rate", learning_rate));
}

RowLosses with_empty_row(RowLosses losses) {
  const Eigen::Index rows = losses.rows;
  RowLosses result = losses;
  ++result.rows;
  result.gradients = [rows, inner = losses.gradients](const Eigen::VectorXd& at) {
    Eigen::MatrixXd gradients = inner(at);
    gradients.conservativeResize(rows + 1, Eigen::NoChange);
    gradients.row(rows).setZero();
    return gradients;
  };
  result.curvature_products = [rows, inner = losses.curvature_products](
                                  const Eigen::VectorXd& at, const Eigen::MatrixXd& directions) {
    return inner(at, directions.topRows(rows));
  };
  result.curvature_traces = [rows, inner = losses.curvature_traces](const Eigen::VectorXd& at) {
    Eigen::VectorXd traces = inner(at);
    traces.conservativeResize(rows + 1);
    traces(rows) = 0.0;
    return traces;
  };
  return result;
}

MatrixNoise minibatch_noise(RowLosses losses, const MinibatchOptions& options, double learning_rate,
                            double floor) {
  const Where where = Where::here();
  const double factor = require_positive("learning_rate", learning_rate, where) *
                        minibatch_factor(losses.rows, options, where);
  require_finite("floor", require_non_negative("floor", floor, where), where);
  auto covariance = [gradients = losses.gradients, factor, floor](double /*time*/,
                                                                  const VectorXd& at) {
    MatrixXd sigma = gram(centred(gradients(at)), factor);
    sigma.diagonal().array() += floor;
    return sigma;
  };
  auto divergence = [losses = std::move(losses), factor](double /*time*/, const VectorXd& at) {
    const MatrixXd deviations = centred(losses.gradients(at));
    const VectorXd sum = losses.curvature_products(at, deviations) +
                         deviations.transpose() * losses.curvature_traces(at);
    return VectorXd(factor * sum);
  };
  return {std::move(covariance), std::move(divergence)};
}

}  // namespace sfumato
