#include "sfumato/sde/problem/ridge_change.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/problem/ridge_fit.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class T>
using ArrayOf = Eigen::Array<T, Eigen::Dynamic, 1>;

constexpr double kSmallRatio = 0.5;  // a precision below it is the difference of larger numbers
// Of comparisons in double and long double, whose errors are 2^11 apart; as in compare_precisely.
constexpr double kAgreement = 1e-8 * 2048 / 16;

template <class T>
RowChange<T> no_change(Index parameters) {
  return {MatrixOf<T>(parameters, 0), ArrayOf<T>(0), ArrayOf<T>(0), ArrayOf<T>(0)};
}

/// Where a change comes from: the fit to the table, or for a row that dominates, of which 1 - h and the residual
/// are small differences there, a fit to the neighbour, O(N p^2).
enum class From { table, neighbour };

From best_for(const RidgeProblem& problem, Index row) {
  return problem.dominates(row) ? From::neighbour : From::table;
}

template <class T>
std::optional<RowChange<T>> removal(const RidgeProblem& problem, Index row, From from,
                                    const RidgeFit<T>& reference) {
  const Record record = problem.record(row);
  const VectorOf<T> x = record.features.cast<T>();
  const T root_weight = std::sqrt(T(reference.weights.row));
  const VectorOf<T> u = root_weight * reference.whiten(x);
  const T norm = u.norm();
  if (norm == T(0)) return no_change<T>(problem.parameters());

  // Both are those of the row as seen from the neighbour: h' = h / (1 - h), r' = r / (1 - h).
  T leverage = 0;
  T residual = 0;
  if (from == From::neighbour) {
    const auto fit = problem.neighbour_fit<T>(row, std::nullopt);
    if (fit.is_singular()) return std::nullopt;
    leverage = T(fit.weights.row) * fit.whiten(x).squaredNorm();
    residual = x.dot(fit.minimiser) - T(record.target);
  } else {
    const T remainder = T(1) - norm * norm;
    if (!(remainder > T(0))) return std::nullopt;
    leverage = norm * norm / remainder;
    residual = (x.dot(reference.minimiser) - T(record.target)) / remainder;
  }
  return RowChange<T>{
      u / norm, ArrayOf<T>::Constant(1, leverage), ArrayOf<T>::Constant(1, T(1) + leverage),
      ArrayOf<T>::Constant(1, root_weight * residual * std::sqrt(leverage / (T(1) + leverage)))};
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
std::optional<RowChange<T>> replacement_of(const RidgeProblem& problem, Index row,
                                           const Record& other, From from,
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
  if (basis.cols() == 0) return no_change<T>(problem.parameters());
  // v v^T - u u^T = (step sum^T + sum step^T) / 2: nothing cancels when the records are close.
  const VectorOf<T> a = basis.transpose() * step;
  const VectorOf<T> b = basis.transpose() * (u + v);
  const MatrixOf<T> product = a * b.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixOf<T>> eigen(T(0.5) * (product + product.transpose()));
  const ArrayOf<T> change = eigen.eigenvalues().array();

  RowChange<T> result;
  result.directions = basis * eigen.eigenvectors();
  result.ratio = T(1) / (T(1) + change);
  result.excess = -change / (T(1) + change);
  const T least = T(1) + change.minCoeff();
  if (from == From::table || least > T(kSmallRatio)) {
    if (!(least > T(0))) return std::nullopt;
    const T residual = x.dot(reference.minimiser) - T(record.target);
    const T residual_step =
        feature_step.dot(reference.minimiser) - (T(other.target) - T(record.target));
    const VectorOf<T> gradient = -root_weight * (residual * step + residual_step * v);
    result.shift = (result.directions.transpose() * gradient).array() * result.ratio;
    return result;
  }
  const auto fit = problem.neighbour_fit<T>(row, other);
  if (fit.is_singular()) return std::nullopt;
  for (Index k = 0; k < change.size(); ++k) {
    if (T(1) + change(k) > T(kSmallRatio)) continue;
    const VectorOf<T> direction = reference.upper.transpose() * result.directions.col(k);
    result.ratio(k) = fit.whiten(direction).squaredNorm();
    result.excess(k) = result.ratio(k) - T(1);
  }
  const VectorOf<T> moved = reference.upper * (fit.minimiser - reference.minimiser);
  result.shift = (result.directions.transpose() * moved).array();
  return result;
}

/// The pair in the coordinates of the reference, with the deviation `unit` of P in each.
template <class T>
WhitenedPair pair_of(const RowChange<T>& change, double unit) {
  return {false, false, change.excess.template cast<double>(), change.ratio.template cast<double>(),
          (change.shift / T(unit)).template cast<double>()};
}

/// Throws   NumericalFailure if the laws cannot be compared with more digits in sensible time.
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
std::optional<RowChange<T>> change_from(From from, const RidgeProblem& problem, Index row,
                                        const std::optional<Record>& replacement) {
  const auto& reference = problem.reference<T>();
  if (!reference) return std::nullopt;
  if (replacement) {
    return replacement_of<T>(problem, row, *replacement, from, *reference);
  }
  return removal<T>(problem, row, from, *reference);
}

template <class T>
std::optional<VectorOf<T>> shift_from(From from, const RidgeProblem& problem, Index row,
                                      const std::optional<Record>& replacement) {
  const auto& reference = problem.reference<T>();
  if (!reference) return std::nullopt;
  if (from == From::neighbour) {  // R^{-1} would magnify the rounding of the one direction
    const auto fit = problem.neighbour_fit<T>(row, replacement);
    if (fit.is_singular()) return std::nullopt;
    return VectorOf<T>(fit.minimiser - reference->minimiser);
  }
  const auto change = change_from<T>(from, problem, row, replacement);
  if (!change) return std::nullopt;
  const VectorOf<T> moved = change->directions * change->shift.matrix();
  return VectorOf<T>(reference->unwhiten(moved));
}

/// The pair that two precisions agree on, if they do: from the table, which costs little, or where a row
/// dominates, from the neighbour.
template <class Compare>
std::optional<WhitenedPair> agreed_pair(const RidgeProblem& problem, Index row, Compare&& compare) {
  if (!problem.has_minimiser()) return std::nullopt;
  if (auto pair = compare(From::table)) return pair;
  if (problem.dominates(row)) return compare(From::neighbour);
  return std::nullopt;
}

}  // namespace

template <class T>
std::optional<RowChange<T>> row_change(const RidgeProblem& problem, Index row,
                                       const std::optional<Record>& replacement) {
  return change_from<T>(best_for(problem, row), problem, row, replacement);
}

template <class T>
std::optional<VectorOf<T>> minimiser_shift(const RidgeProblem& problem, Index row,
                                           const std::optional<Record>& replacement) {
  return shift_from<T>(best_for(problem, row), problem, row, replacement);
}

std::optional<WhitenedPair> ridge_pair_stationary(const RidgeProblem& problem, Index row,
                                                  const std::optional<Record>& replacement,
                                                  double noise_variance) {
  require_positive("noise_variance", noise_variance);
  // R (w - m) has covariance s^2/2 I under P.
  const double unit = std::sqrt(noise_variance / 2.0);
  const auto agreed = agreed_pair(problem, row, [&](From from) -> std::optional<WhitenedPair> {
    const auto rounded = change_from<double>(from, problem, row, replacement);
    const auto extended = change_from<long double>(from, problem, row, replacement);
    if (!rounded || !extended) return std::nullopt;
    WhitenedPair pair = pair_of(*extended, unit);
    if (!(disagreement(pair_of(*rounded, unit), pair) < kAgreement)) return std::nullopt;
    return pair;
  });
  if (agreed) return agreed;
  require_few(problem);
  // The law of variance s^2 has the shifts of variance 1 divided by s.
  auto precise = compare_precisely(problem.precise(), neighbour_training(problem, row, replacement),
                                   std::numeric_limits<double>::infinity(), std::nullopt);
  if (precise) precise->shift /= std::sqrt(noise_variance);
  return precise;
}

std::optional<WhitenedPair> ridge_pair_released(const RidgeProblem& problem, Index row,
                                                const std::optional<Record>& replacement,
                                                const Covariance& noise) {
  const VectorXd origin = VectorXd::Zero(problem.parameters());
  const auto pair_at = [&](const VectorXd& shift) { return whiten(origin, noise, shift, noise); };
  const auto agreed = agreed_pair(problem, row, [&](From from) -> std::optional<WhitenedPair> {
    // Without noise in some direction a shift along it, be it rounding, tells the laws apart.
    const bool refit = from == From::table && problem.dominates(row) && !is_definite(noise);
    if (refit) return std::nullopt;
    const auto rounded = shift_from<double>(from, problem, row, replacement);
    const auto extended = shift_from<long double>(from, problem, row, replacement);
    if (!rounded || !extended) return std::nullopt;
    WhitenedPair pair = pair_at(extended->cast<double>());
    if (pair.mutually_singular || disagreement(pair_at(*rounded), pair) < kAgreement) {
      return pair;
    }
    return std::nullopt;
  });
  if (agreed) return agreed;
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
