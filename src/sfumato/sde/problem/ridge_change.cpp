#include "sfumato/sde/problem/ridge_change.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/problem/ridge_fit.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class T>
using ArrayOf = Eigen::Array<T, Eigen::Dynamic, 1>;

constexpr double kSmallRatio = 0.5;   // a precision below it is the difference of larger numbers
constexpr double kLittleLeft = 0.01;  // of 1 - h: the difference has lost two digits
// Of comparisons in double and long double, whose errors are 2^11 apart; as in compare_precisely.
constexpr double kAgreement = 1e-8 * 2048 / 16;

template <class T>
RowChange<T> no_change(Index parameters) {
  return {MatrixOf<T>(parameters, 0), ArrayOf<T>(0), ArrayOf<T>(0), ArrayOf<T>(0)};
}

/// The row as it stands in the fit to the table: what others leave of it, where the difference 1 - h has not.
template <class T>
std::optional<RowRemainder<T>> remainder_if_needed(const RidgeProblem& problem, Index row,
                                                   const VectorOf<T>& u) {
  if (T(1) - u.squaredNorm() > T(kLittleLeft)) return std::nullopt;
  return problem.remainder<T>(row);
}

/// Whether 1 - h is rounding: without the row, no minimiser is unique as far as T tells.
template <class T>
bool is_rounding(T complement) {
  constexpr T unit = 1000 * std::numeric_limits<T>::epsilon();  // of the entries of the remainder
  return complement <= unit * unit;
}

template <class T>
struct Moved {
  RowChange<T> change;
  VectorOf<T> whitened;  ///< neighbour's minimiser - reference's, in the coordinates z
  VectorOf<T>
      weights;  ///< the same in weights, where R^{-1} would magnify its rounding; else empty
};

template <class T>
VectorOf<T> weights_of(Moved<T> moved, const RidgeFit<T>& reference) {
  if (moved.weights.size() > 0) return std::move(moved.weights);
  return reference.unwhiten(moved.whitened);
}

template <class T>
std::optional<Moved<T>> removal(const RidgeProblem& problem, Index row,
                                const RidgeFit<T>& reference) {
  const Record record = problem.record(row);
  const VectorOf<T> x = record.features.cast<T>();
  const T root_weight = std::sqrt(T(reference.weights.row));
  const VectorOf<T> u = root_weight * reference.whiten(x);
  const T norm = u.norm();
  if (norm == T(0)) return Moved<T>{no_change<T>(problem.parameters()), u, {}};
  T complement = T(1) - norm * norm;
  T residual = x.dot(reference.minimiser) - T(record.target);
  VectorOf<T> weights;
  if (const auto left = remainder_if_needed(problem, row, u)) {
    if (is_rounding(left->complement)) return std::nullopt;
    complement = left->complement;
    residual = left->residual;
    weights = left->weights;
  }
  // Both are those of the row as seen from the neighbour: h' = h / (1 - h), r' = r / (1 - h).
  const T leverage = norm * norm / complement;
  const T seen = root_weight * residual / complement;
  return Moved<T>{{u / norm, ArrayOf<T>::Constant(1, leverage),
                   ArrayOf<T>::Constant(1, T(1) + leverage), ArrayOf<T>::Constant(1, seen * norm)},
                  seen * u,
                  seen * weights};
}

/// Orthonormal columns that span u and v: none, one or two.
template <class T>
MatrixOf<T> span_of(const VectorOf<T>& u, const VectorOf<T>& v) {
  const bool u_first = u.norm() >= v.norm();
  const VectorOf<T>& large = u_first ? u : v;
  const VectorOf<T>& small = u_first ? v : u;
  if (large.norm() == T(0)) return MatrixOf<T>(u.size(), 0);
  const VectorOf<T> first = large.normalized();
  VectorOf<T> rest = small - first.dot(small) * first;
  rest -= first.dot(rest) * first;  // twice is enough, even for nearly parallel vectors
  // What is left of a vector in the line of another is rounding.
  if (rest.norm() <= T(5) * std::numeric_limits<T>::epsilon() * small.norm()) return first;
  MatrixOf<T> basis(u.size(), 2);
  basis << first, rest.normalized();
  return basis;
}

template <class T>
std::optional<Moved<T>> replacement_of(const RidgeProblem& problem, Index row, const Record& other,
                                       const RidgeFit<T>& reference) {
  require_size("replacement", other.features.size(), problem.parameters());
  const Record record = problem.record(row);
  const VectorOf<T> x = record.features.cast<T>();
  const VectorOf<T> x_other = other.features.cast<T>();
  const T root_weight = std::sqrt(T(reference.weights.row));
  const VectorOf<T> feature_step = x_other - x;
  const VectorOf<T> u = root_weight * reference.whiten(x);
  const VectorOf<T> v = root_weight * reference.whiten(x_other);
  const VectorOf<T> step = root_weight * reference.whiten(feature_step);  // v - u, with its digits

  const MatrixOf<T> basis = span_of<T>(u, v);
  if (basis.cols() == 0) return Moved<T>{no_change<T>(problem.parameters()), u, {}};
  // v v^T - u u^T = (step sum^T + sum step^T) / 2: nothing cancels when the records are close.
  const VectorOf<T> a = basis.transpose() * step;
  const VectorOf<T> b = basis.transpose() * (u + v);
  const MatrixOf<T> product = a * b.transpose();
  const SymmetricEigenOf<T> eigen(T(0.5) * (product + product.transpose()));
  const ArrayOf<T> change = eigen.eigenvalues().array();

  RowChange<T> result;
  result.directions = basis * eigen.eigenvectors();
  result.ratio = T(1) / (T(1) + change);
  result.excess = -change / (T(1) + change);
  const auto left = T(1) + change.minCoeff() > T(kSmallRatio)
                        ? std::nullopt
                        : remainder_if_needed(problem, row, u);
  if (!left) {
    const T residual = x.dot(reference.minimiser) - T(record.target);
    const T residual_step =
        feature_step.dot(reference.minimiser) - (T(other.target) - T(record.target));
    const VectorOf<T> gradient = -root_weight * (residual * step + residual_step * v);
    result.shift = (result.directions.transpose() * gradient).array() * result.ratio;
    VectorOf<T> moved = result.directions * result.shift.matrix();
    return Moved<T>{std::move(result), std::move(moved), {}};
  }
  // M = I - u u^T + v v^T in the span of u and v, with g = 1 - h, k = |v|^2 and w = u^T v:  M u = g u + w v,
  // M v = (1 + k) v - w u,  and its determinant is a sum of positive terms. M z = sqrt(c) (r u - r' v).
  const T g = left->complement;
  const T w = u.dot(v);
  const T above = T(1) + v.squaredNorm();
  const T determinant = g * above + w * w;
  if (is_rounding(determinant / above)) return std::nullopt;
  const T own = root_weight * left->residual;
  const T others = -root_weight * (x_other.dot(reference.minimiser) - T(other.target));
  const T along_u = (own * above + others * w) / determinant;
  const T along_v = (others * g - own * w) / determinant;
  Index least = 0;
  (void)change.minCoeff(&least);
  const T largest = change.size() == 1 ? T(1) : T(1) + change.maxCoeff();
  result.ratio(least) = largest / determinant;
  result.excess(least) = result.ratio(least) - T(1);
  VectorOf<T> moved = along_u * u + along_v * v;
  result.shift = (result.directions.transpose() * moved).array();
  return Moved<T>{std::move(result), std::move(moved),
                  along_u * left->weights + along_v * reference.unwhiten(v)};
}

/// The pair in the coordinates of the reference, with the deviation `unit` of P in each.
template <class T>
WhitenedPair pair_of(const RowChange<T>& change, double unit) {
  return {false, false, change.excess.template cast<double>(), change.ratio.template cast<double>(),
          (change.shift / T(unit)).template cast<double>()};
}

/// Throws   NumericalFailure if the distributions cannot be compared with more digits in sensible time.
void require_few(const RidgeProblem& problem) {
  if (problem.parameters() <= kLargestWide) return;
  throw NumericalFailure(
      "double precision leaves too few digits, and more would take too long here",
      "Standardise the columns, or add ridge", Where::here("row risks"));
}

PreciseTraining neighbour_training(const RidgeProblem& problem, Index row,
                                   const std::optional<Record>& replacement) {
  GivenTraining training = problem.precise().given();
  training.loss = *problem.neighbour(row, replacement).given;
  return PreciseTraining(std::move(training));
}

template <class T>
std::optional<Moved<T>> moved_by(const RidgeProblem& problem, Index row,
                                 const std::optional<Record>& replacement,
                                 const Observer& observer) {
  const auto& reference = problem.reference<T>(observer);
  if (!reference) return std::nullopt;
  if (replacement) return replacement_of<T>(problem, row, *replacement, *reference);
  return removal<T>(problem, row, *reference);
}

/// What `compare` makes of the change and the fit in long double, if it makes nearly the same of them in double.
template <class Compare>
std::optional<WhitenedPair> agreed_pair(const RidgeProblem& problem, Index row,
                                        const std::optional<Record>& replacement,
                                        const Observer& observer, const Compare& compare) {
  if (!problem.has_minimiser(observer)) return std::nullopt;
  const auto rounded = moved_by<double>(problem, row, replacement, observer);
  if (!rounded) return std::nullopt;
  const auto extended = moved_by<long double>(problem, row, replacement, observer);
  if (!extended) return std::nullopt;
  WhitenedPair pair = compare(*extended, *problem.reference<long double>());
  if (pair.mutually_singular) return pair;
  if (disagreement(compare(*rounded, *problem.reference()), pair) < kAgreement) return pair;
  return std::nullopt;
}

}  // namespace

template <class T>
std::optional<RowChange<T>> row_change(const RidgeProblem& problem, Index row,
                                       const std::optional<Record>& replacement) {
  auto moved = moved_by<T>(problem, row, replacement, Observer());
  if (!moved) return std::nullopt;
  return std::move(moved->change);
}

template <class T>
std::optional<VectorOf<T>> minimiser_shift(const RidgeProblem& problem, Index row,
                                           const std::optional<Record>& replacement) {
  auto moved = moved_by<T>(problem, row, replacement, Observer());
  if (!moved) return std::nullopt;
  return weights_of<T>(*std::move(moved), *problem.reference<T>());
}

std::optional<WhitenedPair> ridge_pair_stationary(const RidgeProblem& problem, Index row,
                                                  const std::optional<Record>& replacement,
                                                  double noise_variance, const Observer& observer) {
  require_positive("noise_variance", noise_variance);
  // R (w - m) has covariance s^2/2 I under P.
  const double unit = std::sqrt(noise_variance / 2.0);
  const auto compare = [&](const auto& moved, const auto&) { return pair_of(moved.change, unit); };
  if (auto pair = agreed_pair(problem, row, replacement, observer, compare)) return pair;
  require_few(problem);
  // The distribution of variance s^2 has the shifts of variance 1 divided by s.
  auto precise = compare_precisely(problem.precise(), neighbour_training(problem, row, replacement),
                                   std::numeric_limits<double>::infinity(), std::nullopt);
  if (precise) precise->shift /= std::sqrt(noise_variance);
  return precise;
}

std::optional<WhitenedPair> ridge_pair_released(const RidgeProblem& problem, Index row,
                                                const std::optional<Record>& replacement,
                                                const Covariance& noise, const Observer& observer) {
  const VectorXd origin = VectorXd::Zero(problem.parameters());
  const auto pair_at = [&](const VectorXd& shift) { return whiten(origin, noise, shift, noise); };
  const auto compare = [&](const auto& moved, const auto& reference) {
    return pair_at(weights_of(moved, reference).template cast<double>());
  };
  if (auto pair = agreed_pair(problem, row, replacement, observer, compare)) return pair;
  require_few(problem);
  const auto shift =
      minimiser_shift_precisely(problem.precise(), neighbour_training(problem, row, replacement));
  if (!shift) return std::nullopt;
  return pair_at(*shift);
}

template std::optional<RowChange<double>> row_change<double>(const RidgeProblem&, Index,
                                                             const std::optional<Record>&);
template std::optional<RowChange<long double>> row_change<long double>(
    const RidgeProblem&, Index, const std::optional<Record>&);
template std::optional<VectorOf<double>> minimiser_shift<double>(const RidgeProblem&, Index,
                                                                 const std::optional<Record>&);
template std::optional<VectorOf<long double>> minimiser_shift<long double>(
    const RidgeProblem&, Index, const std::optional<Record>&);

}  // namespace sfumato
