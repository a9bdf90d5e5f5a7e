#include "sfumato/design/grouping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

bool spectral(DesignForm form) { return form == DesignForm::full || form == DesignForm::low_rank; }

Index item_count(const DesignTask& task, Index dimension) {
  if (task.form == DesignForm::isotropic) return 1;
  if (task.form == DesignForm::diagonal) return dimension;
  return *std::max_element(task.groups.begin(), task.groups.end()) + 1;
}

void require_groups(const DesignTask& task, Index dimension, const Where& where) {
  require_size("groups", static_cast<std::ptrdiff_t>(task.groups.size()), dimension, where);
  std::vector<bool> seen(task.groups.size(), false);
  for (const Index group : task.groups) {
    if (group < 0 || group >= dimension) {
      throw InvalidArgument(fmt::format("group {} of {} coordinates", group, dimension),
                            "Number the groups from 0 without a gap", where);
    }
    seen[static_cast<std::size_t>(group)] = true;
  }
  const auto end = std::find(seen.begin(), seen.end(), false);
  if (std::find(end, seen.end(), true) != seen.end()) {
    throw InvalidArgument(fmt::format("group {} has no coordinate", end - seen.begin()),
                          "Number the groups from 0 without a gap", where);
  }
}

void require_floor(const DesignTask& task, Index dimension, const Where& where) {
  require_size("floor", task.floor.size(), dimension, where);
  for (Index i = 0; i < dimension; ++i) {
    if (std::isfinite(task.floor(i)) && task.floor(i) >= 0.0) continue;
    throw InvalidArgument(fmt::format("floor {} is {}", i + 1, task.floor(i)),
                          "A floor is a variance, zero or more", where);
  }
  if (spectral(task.form) &&
      (!isotropic_variance(task.budget.weights) || (task.floor.array() != task.floor(0)).any())) {
    throw InvalidArgument(
        "a floor of the full form with unequal entries or weights",
        "Use one floor with weights that are a multiple of the identity, or a regularisation",
        where);
  }
  double needed = 0.0;
  if (spectral(task.form)) {
    needed = task.floor(0) * trace(task.budget.weights);
  } else {
    needed = Grouping(task).items().floors.sum();
  }
  if (needed > task.budget.total) {
    throw InvalidArgument(fmt::format("the floor alone takes {:.6g} of a budget of {:.6g}", needed,
                                      task.budget.total),
                          "Lower the floor or raise the budget", where);
  }
}

}  // namespace

Grouping::Grouping(const DesignTask& task)
    : form_(task.form), dimension_(dimension(task.budget.weights)), groups_(task.groups) {
  const Index count = item_count(task, dimension_);
  const VectorXd weights = diagonal_of(task.budget.weights);
  items_.budget = task.budget.total;
  items_.weights = pool(weights).head(count);
  items_.constants = VectorXd::Zero(count);
  if (task.regularisation > 0.0) {
    items_.constants = task.regularisation *
                       items_.weights.cwiseProduct(pool(inverse_diagonal(task.budget.weights)));
  }
  items_.floors = VectorXd::Zero(count);
  for (Index i = 0; i < task.floor.size(); ++i) {
    double& floor = items_.floors(item_of(i));
    floor = std::max(floor, task.floor(i));
  }
  items_.floors.array() *= items_.weights.array();
}

Index Grouping::item_of(Index coordinate) const {
  if (form_ == DesignForm::diagonal) return coordinate;
  return form_ == DesignForm::isotropic ? 0 : groups_[static_cast<std::size_t>(coordinate)];
}

VectorXd Grouping::pool(const VectorXd& coordinates) const {
  if (form_ == DesignForm::diagonal) return coordinates;
  Index count = 1;
  if (form_ == DesignForm::grouped) count = *std::max_element(groups_.begin(), groups_.end()) + 1;
  VectorXd sums = VectorXd::Zero(count);
  for (Index i = 0; i < coordinates.size(); ++i) sums(item_of(i)) += coordinates(i);
  return sums;
}

RowMajorMatrix Grouping::pool_roots(const Differences& differences) const {
  RowMajorMatrix roots = RowMajorMatrix::Zero(differences.rows(), items_.weights.size());
  for (Index k = 0; k < differences.rows(); ++k) {
    for (Index i = 0; i < differences.cols(); ++i) {
      roots(k, item_of(i)) += differences(k, i) * differences(k, i);
    }
  }
  return roots.cwiseSqrt();
}

Covariance Grouping::covariance(const VectorXd& shares) const {
  const VectorXd variances = shares.cwiseQuotient(items_.weights);
  if (form_ == DesignForm::isotropic) return Isotropic{variances(0), dimension_};
  if (form_ == DesignForm::diagonal) return Diagonal{variances};
  VectorXd all(dimension_);
  for (Index i = 0; i < dimension_; ++i) all(i) = variances(item_of(i));
  return Diagonal{all};
}

Index Grouping::silent(const VectorXd& shares) const {
  if (form_ == DesignForm::diagonal) return (shares.array() == 0.0).count();
  Index count = 0;
  for (Index i = 0; i < dimension_; ++i) count += shares(item_of(i)) == 0.0 ? 1 : 0;
  return count;
}

void require_task(const DesignTask& task, Index size) {
  const Where where = Where::here("design");
  require_budget(task.budget);
  require_size("weights", dimension(task.budget.weights), size, where);
  require_non_negative("regularisation", task.regularisation, where);
  require_finite("regularisation", task.regularisation, where);
  if (task.form == DesignForm::grouped) require_groups(task, size, where);
  if (task.form == DesignForm::low_rank && !is_diagonal(task.budget.weights)) {
    throw InvalidArgument("weights of the low-rank form have entries beside the diagonal",
                          "Use diagonal weights or the full form", where);
  }
  if (task.floor.size() > 0) require_floor(task, size, where);
}

}  // namespace sfumato
