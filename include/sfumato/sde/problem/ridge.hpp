#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "sfumato/core/loss_scale.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato {

namespace detail {
class PreciseTraining;
template <class T>
struct RidgeFit;
struct RidgeFits;
struct RidgeSums {
  Eigen::MatrixXd gram;    ///< sum x x^T
  Eigen::VectorXd moment;  ///< sum y x
};
template <class T>
struct RowRemainder;
struct RowDifference;
class TableSums;
}  // namespace detail

/// Whether the strength of the ridge term is fixed or grows with the number of rows N.
enum class RidgeScale { fixed, times_rows };

struct RidgeOptions {
  LossScale loss = LossScale::sum;
  double ridge = 0.0;                          ///< >= 0
  RidgeScale ridge_scale = RidgeScale::fixed;  ///< times_rows only with the sum
};

/// Ridge regression on a table of N rows (x_l, y_l), and on the tables that differ in one row.
///
///   sum    f(w) = 1/2 sum_l (x_l^T w - y_l)^2 + rho/2 |w|^2,       rho = ridge, or ridge N
///   mean   f(w) = 1/(2N) sum_l (x_l^T w - y_l)^2 + ridge/2 |w|^2
///
/// N is the number of rows of this table, which is taken to be public: the neighbours keep it, in 1/N and in
/// ridge N, and the place of a removed row stays empty (decision 0017). All columns are penalised alike;
/// an intercept is a column of ones, added by the caller.
class RidgeProblem {
 public:
  /// c and rho of a table:  A = c X^T X + rho I,  pull = c X^T y.
  struct Weights {
    double row;
    double ridge;
    friend bool operator==(const Weights&, const Weights&) = default;
  };

  /// Throws InvalidArgument for sizes that differ, an empty table, entries that are not finite, a
  /// negative ridge, or times_rows with the mean (whose ridge term is per row as it is). Here and below:
  /// Stopped if the observer asked to stop.
  RidgeProblem(Eigen::MatrixXd features, Eigen::VectorXd target, const RidgeOptions& options,
               const Observer& observer = Observer());

  [[nodiscard]] Eigen::Index rows() const;
  [[nodiscard]] Eigen::Index parameters() const;
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  [[nodiscard]] Record record(Eigen::Index row) const;

  /// f on the whole table: p^2 numbers, made when first asked for, safely from several threads. Row risks of a table
  /// with more columns than rows do without it.
  [[nodiscard]] const QuadraticLoss& loss(const Observer& observer = Observer()) const;

  /// Whether the loss has one minimiser, as far as double precision tells.
  [[nodiscard]] bool has_minimiser(const Observer& observer = Observer()) const;

  /// Throws NumericalFailure with the smallest eigenvalue if A is singular, as far as double precision tells.
  [[nodiscard]] const Eigen::VectorXd& minimiser() const;

  /// h = c x^T A^{-1} x in [0, 1]: how far the fit at x follows its own y. Leverages sum to at most
  /// the number of parameters. By the pseudo-inverse of a singular A; with more than kLargestWide
  /// parameters by adding 1e-10 of its diagonal, which makes it a lower bound.
  [[nodiscard]] double leverage(Eigen::Index row) const;
  /// Whether leverages are not known better: double precision calls A singular, and p is above kLargestWide.
  [[nodiscard]] bool leverages_are_lower_bounds() const;

  /// True where the leverage is above 0.9 or the row is the only one: differences of sums with and
  /// without it then lose digits. Never more than p / 0.9 rows.
  [[nodiscard]] bool dominates(Eigen::Index row) const;

  /// f on the table without `row`, or with `replacement` in its place: O(p^2) by an update of the
  /// sums, except for the few rows that dominate, where the sums are taken anew over the others.
  ///
  /// Throws   InvalidArgument if the sizes differ.
  [[nodiscard]] QuadraticLoss neighbour(Eigen::Index row,
                                        const std::optional<Record>& replacement) const;

  /// The fit to all rows, from which the neighbours differ in one row and in nothing else.
  ///
  /// Empty when it is singular. Throws as minimiser(). T is double or long double; the fit in long
  /// double is made when first asked for, safely from several threads.
  template <class T = double>
  [[nodiscard]] const std::optional<detail::RidgeFit<T>>& reference(
      const Observer& observer = Observer()) const;

  /// What the other rows leave of this one, with the digits that differences lose where the leverage is near 1:
  /// O(N p). Throws as minimiser().
  ///
  /// Assumes  reference<T>() is not empty.
  template <class T = double>
  [[nodiscard]] detail::RowRemainder<T> remainder(Eigen::Index row) const;

  /// Noisy gradient flow on the table from 0, with noise of variance 1, in more digits.
  [[nodiscard]] const detail::PreciseTraining& precise() const { return *precise_; }

 private:
  using Sums = detail::RidgeSums;
  [[nodiscard]] const Eigen::MatrixXd& features() const;
  [[nodiscard]] const Eigen::VectorXd& target() const;
  /// Made when first asked for; safe from several threads.
  [[nodiscard]] const Sums& sums(const Observer& observer) const;
  [[nodiscard]] Weights weights() const;
  /// The loss of a table that differs from this one, as given.
  [[nodiscard]] std::shared_ptr<const detail::GivenLoss> given(
      std::vector<detail::RowDifference> differences) const;
  [[nodiscard]] QuadraticLoss weigh(const Sums& sums) const;
  [[nodiscard]] Sums sums_over_others(Eigen::Index row) const;

  template <class T>
  [[nodiscard]] std::optional<detail::RidgeFit<T>> fit_all(const Observer& observer) const;
  /// Made when first asked for; safe from several threads.
  template <class T>
  [[nodiscard]] const std::optional<detail::RidgeFit<T>>& fit(const Observer& observer) const;

  std::shared_ptr<const detail::TableSums> table_;
  RidgeOptions options_;
  std::shared_ptr<detail::RidgeFits> fits_;
  std::shared_ptr<const detail::PreciseTraining> precise_;
};

}  // namespace sfumato
