#include "sfumato/sde/problem/classification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/minibatch.hpp"
#include "sfumato/sde/problem/link_kernel.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kRowBlock = 256;  // of the table; sums over a block are added in order
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Scores to probabilities, in place; `outputs` columns of equal length one after the other.
void apply_link(Index count, Index outputs, double* z) {
  if (outputs == 1) {
    logistic_in_place(static_cast<std::size_t>(count), z);
  } else {
    softmax_in_place(static_cast<std::size_t>(count), static_cast<std::size_t>(outputs), z);
  }
}

/// What is taken from probability k for a row of this label.
double indicator(Index outputs, Index k, double label) {
  return outputs == 1 ? label : (label == static_cast<double>(k) ? 1.0 : 0.0);
}

void require_label(double label, Index classes, const std::string& name, const Where& where) {
  if (label >= 0.0 && label < static_cast<double>(classes) && label == std::floor(label)) return;
  throw InvalidArgument(
      fmt::format("{} = {} is not a class", name, label),
      classes == 2 ? "Label the rows 0 and 1" : fmt::format("Label the rows 0 to {}", classes - 1),
      where);
}

}  // namespace

ClassificationProblem ClassificationProblem::logistic(MatrixXd features, VectorXd labels,
                                                      const RidgeOptions& options) {
  return {std::move(features), std::move(labels), 1, 2, options, Where::here()};
}

ClassificationProblem ClassificationProblem::softmax(MatrixXd features, VectorXd labels,
                                                     Index classes, const RidgeOptions& options) {
  const Where where = Where::here();
  if (classes < 2) {
    throw InvalidArgument(fmt::format("there are {} classes", classes), "Give two or more", where);
  }
  return {std::move(features), std::move(labels), classes, classes, options, where};
}

ClassificationProblem::ClassificationProblem(MatrixXd features, VectorXd labels, Index outputs,
                                             Index classes, const RidgeOptions& options,
                                             const Where& where)
    : features_(std::move(features)),
      labels_(std::move(labels)),
      outputs_(outputs),
      count_(static_cast<double>(features_.rows())),
      options_(options) {
  require_size("labels", labels_.size(), rows(), where);
  if (rows() == 0 || features_.cols() == 0) {
    throw InvalidArgument(
        fmt::format("the table is {} rows x {} features", rows(), features_.cols()),
        "Give at least one row and one feature", where);
  }
  require_finite_entries("the features", features_, where);
  for (Index l = 0; l < rows(); ++l) {
    require_label(labels_(l), classes, fmt::format("label of row {}", l + 1), where);
  }
  require_finite("ridge", require_non_negative("ridge", options_.ridge, where), where);
  if (options_.loss == LossScale::mean && options_.ridge_scale == RidgeScale::times_rows) {
    throw InvalidArgument("the ridge term times N does not go with the mean loss",
                          "With the mean, the ridge term is per row as it is: use fixed", where);
  }
  sum_of_norms_ = features_.rowwise().norm().sum();
  sum_of_squares_ = features_.squaredNorm();
  if (!std::isfinite(sum_of_squares_)) {
    throw NumericalFailure("the squares of the features overflow",
                           "Standardise or rescale the columns", where);
  }
}

Record ClassificationProblem::record(Index row) const {
  return {features_.row(row).transpose(), labels_(row)};
}

LinkConstants ClassificationProblem::constants() const {
  const double root = std::sqrt(2.0) * (1.0 + kEpsilon);
  return is_softmax() ? LinkConstants{root, 0.5, root} : LinkConstants{1.0, 0.25, 1.0};
}

ClassificationProblem::Weights ClassificationProblem::weights() const {
  return {
      options_.loss == LossScale::mean ? 1.0 / count_ : 1.0,
      options_.ridge_scale == RidgeScale::times_rows ? options_.ridge * count_ : options_.ridge};
}

void ClassificationProblem::require_record(const Record& record, const Where& where) const {
  require_size("replacement", record.features.size(), features_.cols(), where);
  require_finite_entries("replacement", record.features, where);
  require_label(record.target, is_softmax() ? outputs_ : 2, "label of the replacement", where);
}

ClassificationProblem ClassificationProblem::neighbour(
    Index row, const std::optional<Record>& replacement) const {
  ClassificationProblem result = *this;
  if (replacement) {
    require_record(*replacement);
    result.features_.row(row) = replacement->features.transpose();
    result.labels_(row) = replacement->target;
  } else {
    if (rows() == 1) {
      throw InvalidArgument("without its only row the table is empty",
                            "Use a table of two rows or more");
    }
    const Index after = rows() - row - 1;
    result.features_.resize(rows() - 1, features_.cols());
    result.features_ << features_.topRows(row), features_.bottomRows(after);
    result.labels_.resize(rows() - 1);
    result.labels_ << labels_.head(row), labels_.tail(after);
  }
  result.sum_of_norms_ = result.features_.rowwise().norm().sum();
  result.sum_of_squares_ = result.features_.squaredNorm();
  return result;
}

MatrixXd ClassificationProblem::probabilities(const VectorXd& at) const {
  MatrixXd z = features_ * at.reshaped(features_.cols(), outputs_);
  apply_link(rows(), outputs_, z.data());
  return z;
}

double ClassificationProblem::loss(const VectorXd& at) const {
  const Weights own = weights();
  const MatrixXd z = features_ * at.reshaped(features_.cols(), outputs_);
  double sum = 0.0;
  for (Index l = 0; l < rows(); ++l) {
    if (is_softmax()) {
      const double largest = z.row(l).maxCoeff();
      sum += largest + std::log((z.row(l).array() - largest).exp().sum()) -
             z(l, static_cast<Index>(labels_(l)));
    } else {
      sum += std::max(z(l), 0.0) + std::log1p(std::exp(-std::abs(z(l)))) - labels_(l) * z(l);
    }
  }
  return own.row * sum + 0.5 * own.ridge * at.squaredNorm();
}

void ClassificationProblem::sum_gradients(const ConstPoints& at, MutablePoints out) const {
  const Index p = features_.cols();
  const auto width = static_cast<std::size_t>(p);
  const auto stride = static_cast<std::size_t>(rows());
  std::vector<double> scores(static_cast<std::size_t>(kRowBlock * outputs_));
  // By points, so that the weights of one lie side by side.
  const MatrixXd weights = at.matrix().transpose();
  MatrixXd sums = MatrixXd::Zero(parameters(), at.rows());
  for (Index block = 0; block < rows(); block += kRowBlock) {
    const Index count = std::min(kRowBlock, rows() - block);
    const auto length = static_cast<std::size_t>(count);
    const double* x = features_.data() + block;
    for (Index point = 0; point < at.rows(); ++point) {
      for (Index k = 0; k < outputs_; ++k) {
        row_scores(length, width, x, stride, weights.col(point).data() + k * p,
                   scores.data() + k * count);
      }
      apply_link(count, outputs_, scores.data());
      for (Index k = 0; k < outputs_; ++k) {
        const double label = outputs_ == 1 ? 1.0 : static_cast<double>(k);
        double* residual = scores.data() + k * count;
        subtract_label(length, labels_.data() + block, label, residual);
        add_weighted_rows(length, width, x, stride, residual, sums.col(point).data() + k * p);
      }
    }
  }
  out = sums.transpose().array();
}

VectorXd ClassificationProblem::gradient(const VectorXd& at) const {
  require_size("at", at.size(), parameters());
  const Weights own = weights();
  Points out(1, parameters());
  sum_gradients(at.transpose().array(), out);
  return own.row * out.matrix().transpose() + own.ridge * at;
}

MatrixXd ClassificationProblem::sum_hessian(const VectorXd& at) const {
  const Index p = features_.cols();
  const MatrixXd probability = probabilities(at);
  MatrixXd result = MatrixXd::Zero(parameters(), parameters());
  MatrixXd weighted(rows(), p);
  for (Index k = 0; k < outputs_; ++k) {
    for (Index j = 0; j <= k; ++j) {
      const ArrayXd pk = probability.col(k).array();
      const ArrayXd factor =
          j == k ? ArrayXd(pk * (1.0 - pk)) : ArrayXd(-pk * probability.col(j).array());
      weighted = features_.array().colwise() * factor;
      const MatrixXd block = features_.transpose() * weighted;
      result.block(k * p, j * p, p, p) = 0.5 * (block + block.transpose());
      if (j != k) result.block(j * p, k * p, p, p) = result.block(k * p, j * p, p, p);
    }
  }
  return result;
}

MatrixXd ClassificationProblem::hessian(const VectorXd& at) const {
  require_size("at", at.size(), parameters());
  const Weights own = weights();
  MatrixXd result = own.row * sum_hessian(at);
  result.diagonal().array() += own.ridge;
  return result;
}

MatrixXd ClassificationProblem::row_gradients(const VectorXd& at) const {
  require_size("at", at.size(), parameters());
  const Index p = features_.cols();
  const MatrixXd probability = probabilities(at);
  MatrixXd result(rows(), parameters());
  for (Index k = 0; k < outputs_; ++k) {
    const ArrayXd residual =
        probability.col(k).array() -
        labels_.array().unaryExpr([&](double label) { return indicator(outputs_, k, label); });
    result.middleCols(k * p, p) = features_.array().colwise() * residual;
  }
  return result;
}

VectorXd ClassificationProblem::record_gradient(const Record& record, const VectorXd& at) const {
  const Index p = features_.cols();
  VectorXd z = at.reshaped(p, outputs_).transpose() * record.features;
  apply_link(1, outputs_, z.data());
  VectorXd result(parameters());
  for (Index k = 0; k < outputs_; ++k) {
    result.segment(k * p, p) = (z(k) - indicator(outputs_, k, record.target)) * record.features;
  }
  return result;
}

MatrixXd ClassificationProblem::record_hessian_root(const Record& record,
                                                    const VectorXd& at) const {
  const Index p = features_.cols();
  VectorXd z = at.reshaped(p, outputs_).transpose() * record.features;
  apply_link(1, outputs_, z.data());
  if (!is_softmax()) return std::sqrt(z(0) * (1.0 - z(0))) * record.features;
  // diag(z) - z z^T = B B^T with B = diag(sqrt z) - z sqrt(z)^T, because z sums to one.
  const VectorXd roots = z.cwiseSqrt();
  MatrixXd result(parameters(), outputs_);
  for (Index k = 0; k < outputs_; ++k) {
    for (Index j = 0; j < outputs_; ++j) {
      const double entry = (j == k ? roots(k) : 0.0) - z(k) * roots(j);
      result.col(j).segment(k * p, p) = entry * record.features;
    }
  }
  return result;
}

double ClassificationProblem::rounding(double norm) const {
  const LinkConstants link = constants();
  const auto p = static_cast<double>(features_.cols());
  const auto m = static_cast<double>(outputs_);
  const auto blocks = static_cast<double>(rows()) / static_cast<double>(kRowBlock);
  const double terms = static_cast<double>(kRowBlock) + 8.0 + blocks;
  return kEpsilon * (link.curvature * 2.0 * (p + 2.0) * norm * sum_of_squares_ +
                     ((m + 16.0) + terms * link.gradient) * sum_of_norms_);
}

RowLosses ClassificationProblem::row_losses() const {
  const auto problem = std::make_shared<const ClassificationProblem>(*this);
  return {
      rows(), parameters(), [problem](const VectorXd& at) { return problem->row_gradients(at); },
      [problem](const VectorXd& at, const MatrixXd& directions) {
        // (diag(z) - z z^T) (V_l x_l) x_l^T, V_l the direction as one row per class.
        const Index p = problem->features_.cols();
        const Index m = problem->outputs_;
        const MatrixXd z = problem->probabilities(at);
        MatrixXd moved(problem->rows(), m);
        for (Index k = 0; k < m; ++k) {
          moved.col(k) = (problem->features_.array() * directions.middleCols(k * p, p).array())
                             .rowwise()
                             .sum();
        }
        const ArrayXd mean = (z.array() * moved.array()).rowwise().sum();
        VectorXd result(problem->parameters());
        for (Index k = 0; k < m; ++k) {
          const ArrayXd factor = m == 1 ? ArrayXd(z.array() * (1.0 - z.array()) * moved.array())
                                        : ArrayXd(z.col(k).array() * (moved.col(k).array() - mean));
          result.segment(k * p, p) = problem->features_.transpose() * factor.matrix();
        }
        return result;
      },
      [problem](const VectorXd& at) {
        const MatrixXd z = problem->probabilities(at);
        const ArrayXd traces = (z.array() * (1.0 - z.array())).rowwise().sum();
        return VectorXd(problem->features_.rowwise().squaredNorm().array() * traces);
      }};
}

double hessian_bound(const ClassificationProblem& problem) {
  const ClassificationProblem::Weights own = problem.weights();
  const Index p = problem.features().cols();
  const MatrixXd gram = problem.features().transpose() * problem.features();
  const double largest = SymmetricEigen(gram, SymmetricEigen::Want::values).eigenvalues()(p - 1);
  // The rounding of the products and of the eigenvalues, relative to the trace.
  const double slack = static_cast<double>(problem.rows() + 16 * p + 64) * kEpsilon * gram.trace();
  return (own.ridge + own.row * problem.constants().curvature * (largest + slack)) *
         (1.0 + 4.0 * kEpsilon);
}

Diffusion classification_diffusion(const std::shared_ptr<const ClassificationProblem>& problem,
                                   Noise noise) {
  const Where where = Where::here();
  const bool autonomous = std::holds_alternative<Covariance>(noise);
  if (auto* constant = std::get_if<Covariance>(&noise)) {
    require_size("noise", dimension(*constant), problem->parameters(), where);
    *constant = require_covariance("noise", std::move(*constant), where);
  }
  const ClassificationProblem::Weights own = problem->weights();
  return {problem->parameters(),
          [problem, own](double /*time*/, const ConstPoints& at, MutablePoints out) {
            problem->sum_gradients(at, out);
            out = -own.row * out - own.ridge * at;
          },
          std::move(noise),
          [kappa = own.ridge, lipschitz = hessian_bound(*problem)](const Covariance& metric) {
            return hessian_contraction(kappa, lipschitz, metric);
          },
          autonomous};
}

}  // namespace sfumato
