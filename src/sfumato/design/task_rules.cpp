#include "sfumato/design/task_rules.hpp"

#include <fmt/format.h>

#include <limits>

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {

using Eigen::Index;

double whitened_floor(const DesignTask& task) {
  if (task.floor.size() == 0) return 0.0;
  return task.floor(0) * diagonal_of(task.budget.weights)(0);
}

double isotropic_value(double squared_length, const DesignTask& task) {
  const double variance = task.budget.total / trace(task.budget.weights);
  if (task.floor.size() > 0 && variance < task.floor.maxCoeff()) {
    return std::numeric_limits<double>::infinity();
  }
  return squared_length / variance;
}

void refuse_single_direction(Index rank, Index dimension, bool everywhere) {
  if (rank > 1 || dimension == 1 || everywhere) return;
  throw InvalidArgument(
      fmt::format(
          "all differences lie on one line of {} dimensions, so the best full noise lies on "
          "it too and hides no other difference",
          dimension),
      "Set a floor or a regularisation, or use the diagonal form", Where::here("design"));
}

void refuse_wrong_low_rank(const DesignTask& task, Index rank, Index dimension) {
  if (task.form != DesignForm::low_rank) return;
  const Where where = Where::here("design");
  if (rank >= dimension) {
    throw InvalidArgument(
        fmt::format("the low-rank form with {} differences of {} coordinates", rank, dimension),
        "Use the full form: it is not larger", where);
  }
  if (task.regularisation > 0.0 || whitened_floor(task) > 0.0) return;
  throw InvalidArgument("the low-rank form without noise outside the span of the differences",
                        "Set a regularisation or a floor", where);
}

void refuse_wrong_low_rank(const DesignTask& task, const Covariance& second_moments) {
  if (task.form != DesignForm::low_rank) return;
  const auto* thin = std::get_if<Factored>(&second_moments);
  if (thin == nullptr || !thin->diagonal.isZero(0.0)) {
    throw InvalidArgument("the low-rank form needs second moments as thin factors",
                          "Give the differences themselves, or use the full form",
                          Where::here("design"));
  }
  refuse_wrong_low_rank(task, thin->factor.cols(), thin->factor.rows());
}

SFUMATO_VECTOR_CLONES
void add_weighted_squares(const double* row, double weight, double* sums, Eigen::Index count) {
  for (Eigen::Index i = 0; i < count; ++i) sums[i] += weight * (row[i] * row[i]);
}

SFUMATO_VECTOR_CLONES
double sum_of_weighted_squares(const double* row, const double* weights, Eigen::Index count) {
  Four sums[4] = {};
  Eigen::Index i = 0;
  for (; i + 16 <= count; i += 16) {
    for (Eigen::Index lane = 0; lane < 4; ++lane) {
      Four x, w;
      SFUMATO_LOAD(x, row + i + 4 * lane);
      SFUMATO_LOAD(w, weights + i + 4 * lane);
      sums[lane] += w * (x * x);
    }
  }
  const Four four = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = (four[0] + four[1]) + (four[2] + four[3]);
  for (; i < count; ++i) total += weights[i] * (row[i] * row[i]);
  return total;
}

}  // namespace sfumato
