// No feasible covariance does better than the closed forms of Spec §9.1 and §9.2.
#include "sfumato/design/average_design.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sfumato/design/differences.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 20240901;

struct Case {
  MatrixXd moments;
  DesignTask task;
};

Case random_case(testing::RandomPairs& random, DesignForm form) {
  const Index d = random.integer(2, 5);
  Case c{random.spd(d), {.budget = {Dense{random.spd(d)}, random.log_uniform(0.1, 10.0)}}};
  c.task.form = form;
  if (random.integer(0, 2) == 0) c.task.regularisation = random.log_uniform(1e-3, 1.0);
  if (random.integer(0, 2) == 0) {
    if (form == DesignForm::full)
      c.task.budget.weights = Isotropic{random.log_uniform(0.1, 10.0), d};
    const double most = c.task.budget.total / trace(c.task.budget.weights);
    c.task.floor = VectorXd::Constant(d, random.uniform(0.0, 0.95) * most);
  }
  return c;
}

double objective(const Case& c, const MatrixXd& covariance) {
  const Eigen::LLT<MatrixXd> factor(covariance);
  const Index d = covariance.rows();
  const MatrixXd inverse_weights =
      solve(c.task.budget.weights, MatrixXd::Identity(d, d)) * c.task.regularisation;
  return factor.solve(c.moments + inverse_weights).trace();
}

/// The covariance as far from the floor in the direction of `change` as the budget allows.
MatrixXd feasible(const Case& c, MatrixXd change) {
  const Index d = change.rows();
  MatrixXd floor = MatrixXd::Zero(d, d);
  if (c.task.floor.size() > 0) floor = c.task.floor.asDiagonal();
  const MatrixXd w = dense(c.task.budget.weights);
  const double free = c.task.budget.total - (w * floor).trace();
  return floor + change * (free / (w * change).trace());
}

TEST(AverageDesignProperty, NoRandomCovarianceDoesBetter) {
  testing::RandomPairs random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(round));
    const bool full = round % 2 == 0;
    const Case c = random_case(random, full ? DesignForm::full : DesignForm::diagonal);
    const Index d = c.moments.rows();
    const Design design = average_design(Dense{c.moments}, c.task);
    const MatrixXd best = dense(design.covariance);
    ASSERT_NEAR(weighted_trace(c.task.budget.weights, design.covariance), c.task.budget.total,
                1e-10 * c.task.budget.total);
    ASSERT_NEAR(objective(c, best), design.objective, 1e-9 * design.objective);
    ASSERT_LE(design.lower_bound, design.objective);
    for (int trial = 0; trial < 3; ++trial) {
      MatrixXd other = random.spd(d);
      if (!full) other = other.diagonal().eval().asDiagonal();
      // Far away, and near the optimum where a wrong formula would show first.
      ASSERT_GE(objective(c, feasible(c, other)), design.lower_bound * (1.0 - 1e-10));
      MatrixXd inner = best;
      if (c.task.floor.size() > 0) inner.diagonal() -= c.task.floor;
      const MatrixXd near = inner + 1e-3 * inner.norm() / other.norm() * other;
      ASSERT_GE(objective(c, feasible(c, near)), design.lower_bound * (1.0 - 1e-10));
    }
  }
}

TEST(AverageDesignProperty, FormsAreOrderedAndScale) {
  testing::RandomPairs random(kSeed + 1);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + " case " + std::to_string(round));
    Case c = random_case(random, DesignForm::full);
    c.task.floor.resize(0);
    c.task.regularisation = 0.0;
    const Index d = c.moments.rows();
    const auto value = [&](DesignForm form) {
      DesignTask task = c.task;
      task.form = form;
      for (Index i = 0; i < d; ++i) task.groups.push_back(i / 2);
      return average_design(Dense{c.moments}, task).value;
    };
    const double full = value(DesignForm::full);
    const double diagonal = value(DesignForm::diagonal);
    const double grouped = value(DesignForm::grouped);
    const double isotropic = value(DesignForm::isotropic);
    ASSERT_LE(full, diagonal * (1.0 + 1e-12));
    ASSERT_LE(diagonal, grouped * (1.0 + 1e-12));
    ASSERT_LE(grouped, isotropic * (1.0 + 1e-12));
    // Differences twice as long cost four times as much; the budget works the other way.
    const double scale = random.log_uniform(0.1, 10.0);
    c.moments *= scale * scale;
    c.task.budget.total *= scale;
    ASSERT_NEAR(value(DesignForm::full), scale * full, 1e-9 * scale * full);
    // Gain over isotropic: between 1 and sum w / min w (Spec §9.1).
    const VectorXd w = diagonal_of(c.task.budget.weights);
    ASSERT_LE(isotropic / diagonal, w.sum() / w.minCoeff() * (1.0 + 1e-12));
  }
}

TEST(AverageDesignProperty, NoCorrelationHelpsAgainstABox) {
  testing::RandomPairs random(kSeed + 2);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 2) + " case " + std::to_string(round));
    const VectorXd sensitivities = random.vector(3).cwiseAbs();
    const Design design =
        average_design(second_moments_of_box(sensitivities), {.budget = trace_budget(3, 1.0)});
    MatrixXd other = random.spd(3);
    other /= other.trace();
    double worst = 0.0;
    for (int signs = 0; signs < 4; ++signs) {
      const Eigen::Vector3d sign(1.0, signs % 2 == 0 ? 1.0 : -1.0, signs / 2 == 0 ? 1.0 : -1.0);
      const VectorXd s = sign.cwiseProduct(sensitivities);
      worst = std::max(worst, s.dot(Eigen::LLT<MatrixXd>(other).solve(s)));
    }
    ASSERT_GE(worst, design.value * (1.0 - 1e-12));
  }
}

}  // namespace
}  // namespace sfumato
