#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/design/design.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/design/dual_problem.hpp"

namespace sfumato {

/// Noise with one variance per item, an item being a coordinate, a group of them or all: the
/// isotropic, grouped and diagonal forms are one problem.
class Grouping {
 public:
  /// Assumes a task that require_task has seen, of one of these three forms.
  explicit Grouping(const DesignTask& task);

  [[nodiscard]] const SeparableDual::Items& items() const { return items_; }

  /// Sums over the coordinates of each item.
  [[nodiscard]] Eigen::VectorXd pool(const Eigen::VectorXd& coordinates) const;
  /// Per difference and item the root of the sum of squares; one pass.
  [[nodiscard]] RowMajorMatrix pool_roots(const Differences& differences) const;
  /// The covariance with these shares u of the budget.
  [[nodiscard]] Covariance covariance(const Eigen::VectorXd& shares) const;
  /// How many coordinates have no share.
  [[nodiscard]] Eigen::Index silent(const Eigen::VectorXd& shares) const;

 private:
  [[nodiscard]] Eigen::Index item_of(Eigen::Index coordinate) const;

  DesignForm form_;
  Eigen::Index dimension_;
  std::vector<Eigen::Index> groups_;
  SeparableDual::Items items_;
};

/// Checks what a task asks for, against the number of coordinates.
/// Throws   InvalidArgument: sizes that differ, budget or weights that are not positive, floor that
///          is negative or exceeds the budget, floor in the full forms with unequal entries or
///          weights, groups that are missing or not 0 .. m-1, regularisation < 0.
void require_task(const DesignTask& task, Eigen::Index size);

}  // namespace sfumato
