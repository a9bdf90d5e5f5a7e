#include "sfumato/sde/problem/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/problem/ridge_fit.hpp"
#include "sfumato/sde/problem/triangularise.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDominating = 0.9;       // an update then keeps all digits but one
constexpr double kLeverageRidge = 1e-10;  // far above rounding, far below any real curvature

constexpr double kSumsOfSquares =
    4.0;  // matrices p x p at a time: sums, curvature, those of a neighbour
constexpr char kFewerColumns[] =
    "Use fewer columns; more columns than rows take little with `ridge` above 0 and isotropic "
    "noise";

std::string size_words(Index rows, Index columns) {
  return fmt::format("a table of {} rows and {} columns", rows, columns);
}

[[noreturn]] void refuse_overflow(const Where& where) {
  throw NumericalFailure("the squares of the features or their products with the target overflow",
                         "Standardise or rescale the columns", where);
}

MatrixXd gram_of(const MatrixXd& x, const Observer& observer) {
  constexpr Index products =
      2'000'000'000;  // between two looks at the observer: less than a second
  const Index block = std::max<Index>(64, products / (x.cols() * x.cols()));
  MatrixXd gram = MatrixXd::Zero(x.cols(), x.cols());
  for (Index first = 0; first < x.rows(); first += block) {
    throw_if_stopped(observer);
    const auto rows = x.middleRows(first, std::min(block, x.rows() - first));
    gram.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

constexpr Index kExactCondition = 64;  // above it a few steps of inverse iteration tell enough

/// Smallest over largest eigenvalue of R^T R after scaling to a unit diagonal.
template <class T>
double scaled_reciprocal_condition(const MatrixOf<T>& upper) {
  const VectorOf<T> norms = upper.colwise().norm().transpose();
  if (norms.minCoeff() == T(0)) return 0.0;
  const MatrixXd unit = (upper * norms.cwiseInverse().asDiagonal()).template cast<double>();
  if (unit.cols() <= kExactCondition) {
    const VectorXd values = singular_values(unit);
    const double ratio = values(values.size() - 1) / values(0);
    return ratio * ratio;
  }
  // Columns of length one: the largest eigenvalue lies between 1 and p; that of R^-1 R^-T by iteration.
  if (unit.diagonal().cwiseAbs().minCoeff() == 0.0) return 0.0;
  const auto triangle = unit.triangularView<Eigen::Upper>();
  VectorXd large = VectorXd::Ones(unit.cols()).normalized();
  VectorXd small = large;
  double largest = 1.0;
  double inverse = 1.0;
  for (int k = 0; k < 30; ++k) {
    large = unit.transpose() * VectorXd(unit * large);
    largest = large.norm();
    large /= largest;
    small = triangle.solve(VectorXd(unit.transpose().triangularView<Eigen::Lower>().solve(small)));
    inverse = small.norm();
    if (!(inverse < std::numeric_limits<double>::max())) return 0.0;
    small /= inverse;
  }
  return 1.0 / (inverse * largest);
}

/// y - X w, a column at a time: X in precision T would be a second table.
template <class T>
VectorOf<T> less_product(VectorOf<T> y, const MatrixXd& x, const VectorOf<T>& w) {
  for (Index j = 0; j < x.cols(); ++j) y -= w(j) * x.col(j).cast<T>();
  return y;
}

/// Least squares with the rows sqrt(weight) (x, y) and the ridge term, a block of rows at a time: the triangle
/// so far stands on top of the next block, so that no second table is made.
template <class T>
RidgeFit<T> fit_table(const MatrixXd& features, const VectorXd& target,
                      const RidgeProblem::Weights& weights, const VectorXd& lift,
                      const Observer& observer) {
  const Index n = features.rows();
  const Index p = features.cols();
  const Index block = std::max<Index>(256, 4 * p);
  // The triangle, and the block below it: in long double, which is made beside double.
  const double columns = static_cast<double>(p);
  require_memory(
      sizeof(long double) * columns * (2.0 * columns + static_cast<double>(std::min(block, n))),
      size_words(n, p), kFewerColumns, Where::here("ridge regression"));
  const T root = std::sqrt(T(weights.row));
  MatrixOf<T> triangle = MatrixOf<T>::Zero(p, p);
  triangle.diagonal() = (lift.array().cast<T>() + T(weights.ridge)).sqrt();
  VectorOf<T> right = VectorOf<T>::Zero(p);
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    MatrixOf<T> stacked(p + count, p + 1);
    stacked << triangle, right, root * features.middleRows(first, count).cast<T>(),
        root * target.segment(first, count).cast<T>();
    triangularise(stacked, p, observer);
    triangle = stacked.topLeftCorner(p, p).template triangularView<Eigen::Upper>();
    right = stacked.col(p).head(p);
  }
  RidgeFit<T> fit{weights, std::move(triangle), {}, {}, 0.0};
  fit.reciprocal_condition = scaled_reciprocal_condition(fit.upper);
  fit.minimiser = fit.unwhiten(right);
  fit.residuals = root * less_product<T>(target.cast<T>(), features, fit.minimiser);
  return fit;
}

}  // namespace

template <class T>
bool detail::RidgeFit<T>::is_singular() const {
  return reciprocal_condition < kRankTolerance;
}

template <class T>
VectorOf<T> detail::RidgeFit<T>::whiten(const VectorOf<T>& x) const {
  return upper.transpose().template triangularView<Eigen::Lower>().solve(x);
}

template <class T>
VectorOf<T> detail::RidgeFit<T>::unwhiten(const VectorOf<T>& z) const {
  return upper.template triangularView<Eigen::Upper>().solve(z);
}

struct detail::RidgeFits {
  std::once_flag once;
  std::once_flag once_extended;
  std::once_flag once_sums;
  std::once_flag once_loss;
  std::optional<RidgeFit<double>> rounded;
  std::optional<RidgeFit<long double>> extended;
  double reciprocal_condition = 0.0;  ///< of the table
  MatrixXd leverage_factor;           ///< R of the table, or of the lifted one when it is singular
  RidgeSums sums;
  QuadraticLoss loss;
};

RidgeProblem::RidgeProblem(MatrixXd rows_of_features, VectorXd targets, const RidgeOptions& options,
                           const Observer& observer)
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

  // By Cauchy and Schwarz the sums x_i x_j are no larger than the largest sum of squares.
  throw_if_stopped(observer);
  if (!features().colwise().squaredNorm().allFinite() ||
      !(features().transpose() * target()).allFinite()) {
    refuse_overflow(where);
  }
  precise_ = std::make_shared<const PreciseTraining>(GivenTraining{
      *given({}), Isotropic{1.0, parameters()}, point_distribution(VectorXd::Zero(parameters()))});
  fits_ = std::make_shared<detail::RidgeFits>();
}

const RidgeProblem::Sums& RidgeProblem::sums(const Observer& observer) const {
  std::call_once(fits_->once_sums, [&] {
    const double p = static_cast<double>(parameters());
    require_memory(kSumsOfSquares * sizeof(double) * p * p, size_words(rows(), parameters()),
                   kFewerColumns, Where::here("ridge regression"));
    fits_->sums = {gram_of(features(), observer), features().transpose() * target()};
    if (!fits_->sums.gram.allFinite()) refuse_overflow(Where::here("ridge regression"));
  });
  return fits_->sums;
}

const QuadraticLoss& RidgeProblem::loss(const Observer& observer) const {
  std::call_once(fits_->once_loss, [&] {
    QuadraticLoss loss = weigh(sums(observer));
    loss.given = given({});
    fits_->loss = std::move(loss);
  });
  return fits_->loss;
}

template <class T>
std::optional<RidgeFit<T>> RidgeProblem::fit_all(const Observer& observer) const {
  std::optional<RidgeFit<T>> all =
      fit_table<T>(features(), target(), weights(), VectorXd::Zero(parameters()), observer);
  if (all->is_singular()) all.reset();
  return all;
}

template <>
const std::optional<RidgeFit<double>>& RidgeProblem::fit(const Observer& observer) const {
  std::call_once(fits_->once, [&] {
    fits_->rounded = fit_all<double>(observer);
    if (const auto& own = fits_->rounded) {
      fits_->leverage_factor = own->upper;
      fits_->reciprocal_condition = own->reciprocal_condition;
      return;
    }
    const auto lifted = [&](const VectorXd& lift) {
      return fit_table<double>(features(), target(), weights(), lift, observer);
    };
    fits_->reciprocal_condition = lifted(VectorXd::Zero(parameters())).reciprocal_condition;
    VectorXd lift = kLeverageRidge * weights().row * features().colwise().squaredNorm().transpose();
    lift.array() += kLeverageRidge * weights().ridge;
    lift = (lift.array() == 0.0).select(1.0, lift);
    fits_->leverage_factor = lifted(lift).upper;
  });
  return fits_->rounded;
}
template <>
const std::optional<RidgeFit<long double>>& RidgeProblem::fit(const Observer& observer) const {
  std::call_once(fits_->once_extended, [&] { fits_->extended = fit_all<long double>(observer); });
  return fits_->extended;
}

bool RidgeProblem::has_minimiser(const Observer& observer) const {
  return fit<double>(observer).has_value();
}

const MatrixXd& RidgeProblem::features() const { return table_->features(); }
const VectorXd& RidgeProblem::target() const { return table_->target(); }
Index RidgeProblem::rows() const { return features().rows(); }
Index RidgeProblem::parameters() const { return features().cols(); }

Record RidgeProblem::record(Index row) const {
  return {features().row(row).transpose(), target()(row)};
}

RidgeProblem::Weights RidgeProblem::weights() const {
  const double count = static_cast<double>(rows());
  return {options_.loss == LossScale::mean ? 1.0 / count : 1.0,
          options_.ridge_scale == RidgeScale::times_rows ? options_.ridge * count : options_.ridge};
}

std::shared_ptr<const GivenLoss> RidgeProblem::given(std::vector<RowDifference> differences) const {
  const double count = static_cast<double>(rows());
  const bool mean = options_.loss == LossScale::mean;
  const bool grows = options_.ridge_scale == RidgeScale::times_rows;
  return std::make_shared<const GivenLoss>(RowsGiven{
      table_, std::move(differences), mean ? count : 1.0, options_.ridge, grows ? count : 1.0});
}

QuadraticLoss RidgeProblem::weigh(const Sums& sums) const {
  const Weights own = weights();
  QuadraticLoss loss{own.row * sums.gram, own.row * sums.moment};
  loss.curvature.diagonal().array() += own.ridge;
  return loss;
}

RidgeProblem::Sums RidgeProblem::sums_over_others(Index row) const {
  const Index after = rows() - row - 1;
  const Observer quiet;
  return {gram_of(features().topRows(row), quiet) + gram_of(features().bottomRows(after), quiet),
          features().topRows(row).transpose() * target().head(row) +
              features().bottomRows(after).transpose() * target().tail(after)};
}

const VectorXd& RidgeProblem::minimiser() const {
  if (!has_minimiser()) {
    const bool told = parameters() <= kLargestWide;  // with more digits, where they are looked at
    throw NumericalFailure(
        fmt::format("{}: scaled to a unit diagonal, the smallest eigenvalue of its curvature is "
                    "{:.3g} of the "
                    "largest",
                    told ? "the loss has no unique minimiser"
                         : "double precision cannot tell whether the loss has a unique minimiser",
                    fits_->reciprocal_condition),
        "Add a ridge term, or drop features that others determine");
  }
  return fit<double>(Observer())->minimiser;
}

double RidgeProblem::leverage(Index row) const {
  const double weight = weights().row;
  const VectorXd x = features().row(row).transpose();
  const bool unique = has_minimiser();
  if (!unique && parameters() <= kLargestWide) {
    return std::min(1.0, weight * precise_->inverse_form(x));
  }
  const VectorXd half = fits_->leverage_factor.transpose().triangularView<Eigen::Lower>().solve(x);
  // The lifted factor has a condition number of up to 1e5, and the bound must not lose to its rounding.
  return std::min(1.0, (unique ? weight : (1.0 - 1e-8) * weight) * half.squaredNorm());
}

bool RidgeProblem::leverages_are_lower_bounds() const {
  return parameters() > kLargestWide && !has_minimiser();
}

bool RidgeProblem::dominates(Index row) const { return rows() == 1 || leverage(row) > kDominating; }

QuadraticLoss RidgeProblem::neighbour(Index row, const std::optional<Record>& replacement) const {
  Sums sums;
  if (dominates(row)) {
    sums = sums_over_others(row);
  } else {
    const VectorXd x = features().row(row).transpose();
    const Sums& all = this->sums(Observer());
    sums = {all.gram - x * x.transpose(), all.moment - target()(row) * x};
  }
  std::vector<RowDifference> differences = {{-1.0, features().row(row).transpose(), target()(row)}};
  if (replacement) {
    const VectorXd& x = replacement->features;
    require_size("replacement", x.size(), parameters());
    sums.gram += x * x.transpose();
    sums.moment += replacement->target * x;
    differences.push_back({1.0, x, replacement->target});
  }
  QuadraticLoss loss = weigh(sums);
  loss.given = given(std::move(differences));
  return loss;
}

template <class T>
const std::optional<RidgeFit<T>>& RidgeProblem::reference(const Observer& observer) const {
  if (!has_minimiser(observer)) (void)minimiser();  // throws
  return fit<T>(observer);
}

template <class T>
RowRemainder<T> RidgeProblem::remainder(Index row) const {
  const RidgeFit<T>& fit = *reference<T>();
  const T root = std::sqrt(T(fit.weights.row));
  const T root_ridge = std::sqrt(T(fit.weights.ridge));
  const auto solve = [&](const VectorOf<T>& right) { return fit.unwhiten(fit.whiten(right)); };
  VectorOf<T> unit = VectorOf<T>::Zero(rows());
  unit(row) = T(1);
  const VectorOf<T> x = root * features().row(row).transpose().template cast<T>();
  VectorOf<T> v = solve(x);
  // R^T R v = B^T e squares the condition number; one step of refinement with what is left of e takes it back
  // (the corrected seminormal equations).
  VectorOf<T> rest = less_product<T>(unit, features(), VectorOf<T>(root * v));
  VectorOf<T> gradient(parameters());
  for (Index j = 0; j < parameters(); ++j) {
    gradient(j) =
        root * features().col(j).template cast<T>().dot(rest) - root_ridge * (root_ridge * v(j));
  }
  v += solve(gradient);
  rest = less_product<T>(unit, features(), VectorOf<T>(root * v));
  const VectorOf<T> rest_of_ridge = root_ridge * v;
  const T complement = rest.squaredNorm() + rest_of_ridge.squaredNorm();
  const T left = rest.dot(fit.residuals) + rest_of_ridge.dot(root_ridge * fit.minimiser);
  return {std::move(v), complement, -left / root};
}

template struct detail::RidgeFit<double>;
template struct detail::RidgeFit<long double>;
template const std::optional<RidgeFit<double>>& RidgeProblem::reference<double>(
    const Observer&) const;
template const std::optional<RidgeFit<long double>>& RidgeProblem::reference<long double>(
    const Observer&) const;
template RowRemainder<double> RidgeProblem::remainder<double>(Index) const;
template RowRemainder<long double> RidgeProblem::remainder<long double>(Index) const;

}  // namespace sfumato
