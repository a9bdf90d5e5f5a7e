#include "sfumato/design/average_design.hpp"

#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/design/frame.hpp"
#include "sfumato/design/grouping.hpp"
#include "sfumato/design/spread.hpp"
#include "sfumato/design/task_rules.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Design separable(const VectorXd& second_moments, const DesignTask& task) {
  const Grouping grouping(task);
  const SeparableDual::Items& items = grouping.items();
  const VectorXd moments =
      grouping.pool(second_moments).cwiseProduct(items.weights) + items.constants;
  const Spread spread = spread_budget(moments.cwiseSqrt(), items.floors, items.budget);
  double regularising = 0.0;
  if (task.regularisation > 0.0) {
    regularising = items.constants.cwiseQuotient(spread.shares).sum();
  }
  Design design{.covariance = grouping.covariance(spread.shares),
                .budget = spread.shares.sum(),
                .value = spread.cost - regularising,
                .objective = spread.cost,
                .lower_bound = spread.cost,
                .gap = 0.0,
                .isotropic_value = 0.0};
  design.silent = grouping.silent(spread.shares);
  if (design.silent > 0) design.warnings.push_back(DesignWarning::silent_coordinates);
  return design;
}

/// Second moments in a frame, and the frame.
struct FramedMoments {
  MatrixXd moments;
  Frame frame;
};

FramedMoments framed(const Covariance& second_moments, const Whitening& whitening,
                     bool everywhere) {
  const auto* thin = std::get_if<Factored>(&second_moments);
  if (thin != nullptr && thin->diagonal.isZero(0.0) && thin->factor.cols() < thin->factor.rows()) {
    Frame frame = frame_of(whitening.columns(thin->factor));
    if (!everywhere) frame = restricted_to_range(std::move(frame));
    MatrixXd moments = frame.coordinates.transpose() * frame.coordinates;
    return {std::move(moments), std::move(frame)};
  }
  const MatrixXd half = whitening.columns(dense(second_moments));
  const MatrixXd whole = whitening.columns(half.transpose());
  MatrixXd moments = 0.5 * (whole + whole.transpose());
  if (everywhere) {
    const Index d = moments.rows();
    return {std::move(moments), {MatrixXd(0, d), {}, d}};
  }
  const SymmetricEigen eigen(moments);
  const VectorXd& values = eigen.eigenvalues();
  const Index d = values.size();
  const Index dropped = (values.array() < 1e-14 * values(d - 1)).count();  // Spec §9.3
  if (dropped == 0) return {std::move(moments), {MatrixXd(0, d), {}, d}};
  return {values.tail(d - dropped).asDiagonal(),
          {MatrixXd(0, d - dropped), eigen.eigenvectors().rightCols(d - dropped), d}};
}

Design spectral(const Covariance& second_moments, const DesignTask& task) {
  const Whitening whitening(task.budget.weights);
  const double floor = whitened_floor(task);
  const bool everywhere = floor > 0.0 || task.regularisation > 0.0;
  const FramedMoments g = framed(second_moments, whitening, everywhere);
  refuse_single_direction(g.moments.rows(), g.frame.dimension, everywhere);
  const SpectralNoise noise =
      spectral_noise(g.moments, {g.frame.rest(), task.regularisation, floor, task.budget.total});
  Design design{.covariance = lifted(noise, g.frame, whitening, task.form),
                .budget = task.budget.total,
                .value = noise.cost - noise.regularising,
                .objective = noise.cost,
                .lower_bound = noise.lower_bound,
                .gap = noise.cost / noise.lower_bound - 1.0,
                .isotropic_value = 0.0};
  if (!everywhere && g.frame.rest() > 0) design.warnings.push_back(DesignWarning::rank_deficient);
  return design;
}

}  // namespace

Design average_design(const Covariance& moments, const DesignTask& task) {
  (void)require_covariance("second moments", moments, Where::here());
  require_task(task, dimension(moments));
  const double total = trace(moments);
  if (!(total > 0.0)) {
    throw InvalidArgument("all second moments are zero", "Nothing needs noise");
  }
  refuse_wrong_low_rank(task, moments);
  Design design = [&] {
    if (task.form != DesignForm::full && task.form != DesignForm::low_rank) {
      return separable(diagonal_of(moments), task);
    }
    const bool diagonal =
        task.form == DesignForm::full && is_diagonal(moments) && is_diagonal(task.budget.weights);
    if (!diagonal) return spectral(moments, task);
    const bool everywhere = whitened_floor(task) > 0.0 || task.regularisation > 0.0;
    refuse_single_direction((diagonal_of(moments).array() > 0.0).count(), dimension(moments),
                            everywhere);
    DesignTask same = task;
    same.form = DesignForm::diagonal;
    return separable(diagonal_of(moments), same);
  }();
  design.isotropic_value = isotropic_value(total, task);
  DesignTask diagonal = task;
  diagonal.form = DesignForm::diagonal;
  design.diagonal_value = task.form == DesignForm::diagonal
                              ? design.value
                              : separable(diagonal_of(moments), diagonal).value;
  return design;
}

}  // namespace sfumato
