#include "sfumato/design/minimax_design.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/design/dual_ascent.hpp"
#include "sfumato/design/frame.hpp"
#include "sfumato/design/grouping.hpp"
#include "sfumato/design/separable_dual.hpp"
#include "sfumato/design/spectral_dual.hpp"
#include "sfumato/design/square_kernels.hpp"
#include "sfumato/design/task_rules.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Design from_ascent(const DualAscent& ascent, double regularising, Covariance covariance) {
  Design design{.covariance = std::move(covariance),
                .budget = 0.0,
                .value = ascent.upper_bound - regularising,
                .objective = ascent.upper_bound,
                .lower_bound = ascent.lower_bound,
                .gap = std::max(0.0, ascent.upper_bound / ascent.lower_bound - 1.0),
                .iterations = ascent.iterations,
                .pair_weights = ascent.weights,
                .isotropic_value = 0.0};
  if (!ascent.converged) design.warnings.push_back(DesignWarning::not_converged);
  return design;
}

Design separable(const Differences& differences, const DesignTask& task,
                 const SolverOptions& options, Observer& observer) {
  const Grouping grouping(task);
  RowMajorMatrix pooled;
  if (task.form != DesignForm::diagonal) pooled = grouping.pool_roots(differences);
  const Differences& view = task.form == DesignForm::diagonal ? differences : Differences(pooled);
  SeparableDual dual(view, grouping.items(), options.threads);
  const DualAscent ascent = maximise_dual(dual, options, observer);
  (void)dual.evaluate(ascent.weights);
  const VectorXd& shares = dual.spread().shares;
  Design design = from_ascent(ascent, dual.constant_cost(), grouping.covariance(shares));
  design.budget = shares.sum();
  design.silent = grouping.silent(shares);
  if (design.silent > 0) design.warnings.push_back(DesignWarning::silent_coordinates);
  return design;
}

Design isotropic(const Differences& differences, const DesignTask& task) {
  const Grouping grouping(task);
  const SeparableDual::Items& items = grouping.items();
  Index worst = 0;
  const double largest = differences.rowwise().squaredNorm().maxCoeff(&worst);
  const double value = largest * items.weights(0) / items.budget;
  const double objective = value + items.constants(0) / items.budget;
  Design design{.covariance = grouping.covariance(VectorXd::Constant(1, items.budget)),
                .budget = items.budget,
                .value = value,
                .objective = objective,
                .lower_bound = objective,
                .gap = 0.0,
                .isotropic_value = 0.0};
  design.pair_weights = VectorXd::Zero(differences.rows());
  design.pair_weights(worst) = 1.0;
  return design;
}

Design spectral(const Differences& differences, const DesignTask& task,
                const SolverOptions& options, Observer& observer) {
  const Whitening whitening(task.budget.weights);
  const double floor = whitened_floor(task);
  const bool everywhere = floor > 0.0 || task.regularisation > 0.0;
  Frame frame = frame_of(whitening.columns(differences.transpose()));
  if (!everywhere) frame = restricted_to_range(std::move(frame));
  if (!frame.outside) {
    refuse_single_direction(frame.coordinates.cols(), frame.dimension, everywhere);
  }
  SpectralDual dual(frame.coordinates,
                    {frame.rest(), task.regularisation, floor, task.budget.total}, options.threads);
  const DualAscent ascent = maximise_dual(dual, options, observer);
  (void)dual.evaluate(ascent.weights);
  Design design = from_ascent(ascent, dual.noise().regularising,
                              lifted(dual.noise(), frame, whitening, task.form));
  design.budget = task.budget.total;
  if (frame.outside) {
    design.value = design.objective = design.gap = kInf;
    design.warnings.push_back(DesignWarning::dropped_direction);
  }
  if (!everywhere && frame.rest() > 0) design.warnings.push_back(DesignWarning::rank_deficient);
  return design;
}

}  // namespace

Design minimax_design(const Differences& differences, const DesignTask& task,
                      const SolverOptions& options, Observer& observer) {
  require_differences(differences);
  require_task(task, differences.cols());
  require_positive("tolerance", options.tolerance);
  refuse_wrong_low_rank(task, differences.rows(), differences.cols());
  Design design = [&] {
    switch (task.form) {
      case DesignForm::isotropic: return isotropic(differences, task);
      case DesignForm::grouped:
      case DesignForm::diagonal: return separable(differences, task, options, observer);
      case DesignForm::full:
      case DesignForm::low_rank: break;
    }
    return spectral(differences, task, options, observer);
  }();
  if (task.form == DesignForm::diagonal) design.diagonal_value = design.value;
  if (options.compare && task.form != DesignForm::diagonal) {
    DesignTask diagonal = task;
    diagonal.form = DesignForm::diagonal;
    design.diagonal_value = separable(differences, diagonal, options, observer).value;
  }
  design.isotropic_value = isotropic_value(differences.rowwise().squaredNorm().maxCoeff(), task);
  return design;
}

DesignCosts costs_of(const Covariance& covariance, const Differences& differences) {
  require_size("covariance", dimension(covariance), differences.cols());
  const Index count = differences.rows();
  VectorXd costs(count);
  if (is_diagonal(covariance)) {
    const VectorXd variances = diagonal_of(covariance);
    const VectorXd inverse = (variances.array() > 0.0).select(variances.cwiseInverse(), 0.0);
    for (Index k = 0; k < count; ++k) {
      const auto row = differences.row(k);
      const bool bare = ((variances.array() == 0.0) && (row.transpose().array() != 0.0)).any();
      costs(k) = bare ? kInf : sum_of_weighted_squares(row.data(), inverse.data(), inverse.size());
    }
  } else {
    const MatrixXd columns = differences.transpose();
    costs = columns.cwiseProduct(solve(covariance, columns)).colwise().sum().transpose();
  }
  return {costs.maxCoeff(), costs.mean()};
}

}  // namespace sfumato
