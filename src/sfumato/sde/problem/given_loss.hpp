#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace sfumato {

template <class T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

namespace detail {

/// A table of rows (x_l, y_l) and its sums, each made once, when first asked for.
class TableSums {
 public:
  template <class T>
  struct In {
    MatrixOf<T> gram;    ///< sum x x^T
    VectorOf<T> moment;  ///< sum y x
  };

  TableSums(Eigen::MatrixXd features, Eigen::VectorXd target);
  ~TableSums();
  TableSums(const TableSums&) = delete;
  TableSums& operator=(const TableSums&) = delete;

  [[nodiscard]] const Eigen::MatrixXd& features() const { return features_; }
  [[nodiscard]] const Eigen::VectorXd& target() const { return target_; }

  /// The sums in precision T: long double, Wide or Widest. Safe to call from several threads.
  template <class T>
  [[nodiscard]] const In<T>& in() const;

 private:
  struct Cache;
  Eigen::MatrixXd features_;
  Eigen::VectorXd target_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace detail
using detail::TableSums;

namespace detail {
/// One row that a table has more (weight 1) or less (weight -1) than its sums say.
struct RowDifference {
  double weight;
  Eigen::VectorXd features;
  double target;
};
}  // namespace detail
using detail::RowDifference;

/// A = (X^T X with the differences) / divisor + ridge I and the pull that goes with y, or another.
struct RowsGiven {
  std::shared_ptr<const TableSums> table;
  std::vector<RowDifference> differences;
  double divisor = 1.0;  ///< the number of rows for the mean loss
  double ridge = 0.0;
  double ridge_times = 1.0;  ///< the number of rows where ridge is per row
  /// In place of X^T y / divisor.
  std::optional<Eigen::VectorXd> pull = {};
  /// In place of both: pull = A point.
  std::optional<Eigen::VectorXd> point = {};
};

/// A as a matrix. Entries that people write down are rounded: an eigenvalue below the rounding of
/// the largest is taken to be 0.
struct MatrixGiven {
  Eigen::MatrixXd curvature;
  Eigen::VectorXd pull;
  std::optional<Eigen::VectorXd> point = {};  ///< pull = A point, before it was rounded
};

namespace detail {
/// A quadratic loss  1/2 x^T A x - pull^T x  as it was given, before a sum over rows was rounded to
/// double precision: there a ridge of 1 vanishes beside a column of 1e9.
struct GivenLoss : std::variant<MatrixGiven, RowsGiven> {
  using variant::variant;
};
}  // namespace detail
using detail::GivenLoss;

/// The loss with another pull.
[[nodiscard]] GivenLoss with_pull(GivenLoss loss, const Eigen::VectorXd& pull);

template <class T>
struct LossIn {
  MatrixOf<T> curvature;
  VectorOf<T> pull;
};

/// The loss in precision T: long double, Wide or Widest.
template <class T>
[[nodiscard]] LossIn<T> loss_in(const GivenLoss& given);

}  // namespace sfumato
