#include "sfumato/sde/problem/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/entries.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDominating = 0.9;       // an update then keeps all digits but one
constexpr double kLeverageRidge = 1e-10;  // far above rounding, far below any real curvature

MatrixXd gram_of(const MatrixXd& x) {
  MatrixXd gram = MatrixXd::Zero(x.cols(), x.cols());
  gram.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

/// Smallest over largest eigenvalue of R^T R after scaling to a unit diagonal.
double scaled_reciprocal_condition(const MatrixXd& upper) {
  const VectorXd norms = upper.colwise().norm().transpose();
  if (norms.minCoeff() == 0.0) return 0.0;
  const VectorXd values =
      Eigen::JacobiSVD<MatrixXd>(upper * norms.cwiseInverse().asDiagonal()).singularValues();
  const double ratio = values(values.size() - 1) / values(0);
  return ratio * ratio;
}

/// Least squares on the rows of `stacked`, which ends with the rows of the ridge term; overwrites it.
RidgeProblem::Fit fit_stacked(MatrixXd& stacked, VectorXd& target,
                              const RidgeProblem::Weights& weights) {
  const Index p = stacked.cols();
  const Eigen::HouseholderQR<Eigen::Ref<MatrixXd>> qr(stacked);
  target.applyOnTheLeft(qr.householderQ().adjoint());
  RidgeProblem::Fit fit{weights, qr.matrixQR().topRows(p).triangularView<Eigen::Upper>(), {}, 0.0};
  fit.reciprocal_condition = scaled_reciprocal_condition(fit.upper);
  fit.minimiser = fit.unwhiten(target.head(p));
  return fit;
}

RidgeProblem::Fit fit_table(const MatrixXd& features, const VectorXd& target,
                            const RidgeProblem::Weights& weights, const VectorXd& lift) {
  const Index n = features.rows();
  const Index p = features.cols();
  const double root = std::sqrt(weights.row);
  MatrixXd stacked = MatrixXd::Zero(n + p, p);
  stacked.topRows(n) = root * features;
  stacked.bottomRows(p).diagonal() = (lift.array() + weights.ridge).sqrt();
  VectorXd stacked_target = VectorXd::Zero(n + p);
  stacked_target.head(n) = root * target;
  return fit_stacked(stacked, stacked_target, weights);
}

}  // namespace

bool RidgeProblem::Fit::is_singular() const { return reciprocal_condition < kRankTolerance; }

VectorXd RidgeProblem::Fit::whiten(const VectorXd& x) const {
  return upper.transpose().triangularView<Eigen::Lower>().solve(x);
}

VectorXd RidgeProblem::Fit::unwhiten(const VectorXd& z) const {
  return upper.triangularView<Eigen::Upper>().solve(z);
}

RidgeProblem::RidgeProblem(MatrixXd rows_of_features, VectorXd targets,
                           const RidgeOptions& options)
    : table_(std::make_shared<const TableSums>(std::move(rows_of_features), std::move(targets))),
      options_(options) {
  const Where where = Where::here();
  require_size("target", target().size(), rows(), where);
  if (rows() == 0 || parameters() == 0) {
    throw InvalidArgument(fmt::format("the table is {} rows x {} features", rows(), parameters()),
                          "Give at least one row and one feature", where);
  }
  require_finite_entries("the features", features(), where);
  require_finite_entries("target", target(), where);
  require_finite("ridge", require_non_negative("ridge", options_.ridge, where), where);
  if (options_.loss == LossScale::mean && options_.ridge_scale == RidgeScale::times_rows) {
    throw InvalidArgument("the ridge term times N does not go with the mean loss",
                          "With the mean, the ridge term is per row as it is: use fixed", where);
  }

  sums_ = {gram_of(features()), features().transpose() * target()};
  if (!sums_.gram.allFinite() || !sums_.moment.allFinite()) {
    throw NumericalFailure("the squares of the features or their products with the target overflow",
                           "Standardise or rescale the columns", where);
  }
  loss_ = weigh(sums_, weights(rows()));
  loss_.given = given(rows(), {});
  no_offset_ = VectorXd::Zero(parameters());
  Fit own = fit_table(features(), target(), weights(rows()), no_offset_);
  reciprocal_condition_ = own.reciprocal_condition;
  if (own.is_singular()) {
    VectorXd lift = kLeverageRidge * loss_.curvature.diagonal();
    lift = (lift.array() == 0.0).select(1.0, lift);
    leverage_factor_ = fit_table(features(), target(), weights(rows()), lift).upper;
    return;
  }
  leverage_factor_ = own.upper;
  replacing_ = std::move(own);
  fit_removal();
}

/// With m the minimiser under the weights (c, rho) of the table:  c (X^T y - X^T X m) = rho m, so
/// under the weights (c', rho') the gradient at m is  (rho' - c' rho / c) m.
void RidgeProblem::fit_removal() {
  if (rows() == 1 && options_.loss == LossScale::mean) return;
  const Weights own = weights(rows());
  const Weights less = weights(rows() - 1);
  removal_offset_ = no_offset_;
  if (less == own) {
    removing_ = replacing_;
    return;
  }
  Fit fit = fit_table(features(), target(), less, no_offset_);
  if (fit.is_singular()) return;
  const VectorXd pull = (less.row * own.ridge / own.row - less.ridge) * replacing_->minimiser;
  removal_offset_ = fit.unwhiten(fit.whiten(pull));
  removing_ = std::move(fit);
}

Record RidgeProblem::record(Index row) const {
  return {features().row(row).transpose(), target()(row)};
}

RidgeProblem::Weights RidgeProblem::weights(Index rows) const {
  const double count = static_cast<double>(rows);
  return {options_.loss == LossScale::mean ? 1.0 / count : 1.0,
          options_.ridge_scale == RidgeScale::times_rows ? options_.ridge * count : options_.ridge};
}

std::shared_ptr<const GivenLoss> RidgeProblem::given(Index rows,
                                                     std::vector<RowDifference> differences) const {
  const double count = static_cast<double>(rows);
  const bool mean = options_.loss == LossScale::mean;
  const bool grows = options_.ridge_scale == RidgeScale::times_rows;
  return std::make_shared<const GivenLoss>(RowsGiven{table_, std::move(differences),
                                                     mean ? count : 1.0, options_.ridge,
                                                     grows ? count : 1.0});
}

QuadraticLoss RidgeProblem::weigh(const Sums& sums, const Weights& weights) const {
  QuadraticLoss loss{weights.row * sums.gram, weights.row * sums.moment};
  loss.curvature.diagonal().array() += weights.ridge;
  return loss;
}

RidgeProblem::Sums RidgeProblem::sums_over_others(Index row) const {
  const Index after = rows() - row - 1;
  return {gram_of(features().topRows(row)) + gram_of(features().bottomRows(after)),
          features().topRows(row).transpose() * target().head(row) +
              features().bottomRows(after).transpose() * target().tail(after)};
}

const VectorXd& RidgeProblem::minimiser() const {
  if (!replacing_) {
    throw NumericalFailure(
        fmt::format("the loss has no unique minimiser: scaled to a unit diagonal, the smallest "
                    "eigenvalue of its curvature is {:.3g} of the largest",
                    reciprocal_condition_),
        "Add a ridge term, or drop features that others determine");
  }
  return replacing_->minimiser;
}

double RidgeProblem::leverage(Index row) const {
  const VectorXd half = leverage_factor_.transpose().triangularView<Eigen::Lower>().solve(
      features().row(row).transpose());
  return std::min(1.0, weights(rows()).row * half.squaredNorm());
}

bool RidgeProblem::dominates(Index row) const {
  // The weights of N - 1 rows are within a factor of two of those of N, except for a single row.
  return rows() == 1 || leverage(row) > kDominating;
}

QuadraticLoss RidgeProblem::neighbour(Index row, const std::optional<Record>& replacement) const {
  if (!replacement && rows() == 1 && options_.loss == LossScale::mean) {
    throw InvalidArgument("without its only row the table has no mean loss",
                          "Use the sum, or a table of two rows or more");
  }
  Sums sums;
  if (dominates(row)) {
    sums = sums_over_others(row);
  } else {
    const VectorXd x = features().row(row).transpose();
    sums = {sums_.gram - x * x.transpose(), sums_.moment - target()(row) * x};
  }
  std::vector<RowDifference> differences = {{-1.0, features().row(row).transpose(), target()(row)}};
  if (!replacement) {
    QuadraticLoss loss = weigh(sums, weights(rows() - 1));
    loss.given = given(rows() - 1, std::move(differences));
    return loss;
  }
  const VectorXd& x = replacement->features;
  require_size("replacement", x.size(), parameters());
  sums.gram += x * x.transpose();
  sums.moment += replacement->target * x;
  QuadraticLoss loss = weigh(sums, weights(rows()));
  differences.push_back({1.0, x, replacement->target});
  loss.given = given(rows(), std::move(differences));
  return loss;
}

const std::optional<RidgeProblem::Fit>& RidgeProblem::reference(bool removal) const {
  (void)minimiser();
  return removal ? removing_ : replacing_;
}

const VectorXd& RidgeProblem::reference_offset(bool removal) const {
  return removal ? removal_offset_ : no_offset_;
}

RidgeProblem::Fit RidgeProblem::neighbour_fit(Index row,
                                              const std::optional<Record>& replacement) const {
  const Weights own = weights(replacement ? rows() : rows() - 1);
  MatrixXd others = features();
  VectorXd response = target();
  // A row of zeros is as good as no row: it adds nothing to any sum.
  others.row(row).setZero();
  response(row) = 0.0;
  if (replacement) {
    require_size("replacement", replacement->features.size(), parameters());
    others.row(row) = replacement->features.transpose();
    response(row) = replacement->target;
  }
  return fit_table(others, response, own, no_offset_);
}

}  // namespace sfumato
