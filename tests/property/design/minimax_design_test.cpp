// Certificates of minimax designs over random differences (Spec §9.3, §9.4).
#include "sfumato/design/minimax_design.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSeed = 20240902;

struct Case {
  RowMajorMatrix differences;
  DesignTask task;
};

Case random_case(testing::RandomPairs& random) {
  const Index d = random.integer(1, 8);
  const Index count = random.integer(1, 30);
  Case c{random.matrix(count, d),
         {.budget = {Isotropic{random.log_uniform(0.1, 10.0), d}, random.log_uniform(0.1, 10.0)}}};
  const double spread = random.uniform(0.0, 2.0);
  for (Index i = 0; i < d; ++i) c.differences.col(i) *= std::exp(spread * random.normal());
  for (Index k = 0; k < count; ++k) c.differences.row(k) *= std::exp(0.3 * random.normal());
  constexpr DesignForm forms[] = {DesignForm::grouped, DesignForm::diagonal, DesignForm::full,
                                  DesignForm::low_rank};
  c.task.form = forms[random.integer(0, 3)];
  if (c.task.form == DesignForm::low_rank && count >= d) c.task.form = DesignForm::full;
  for (Index i = 0; i < d; ++i) c.task.groups.push_back(i / 2);
  const bool thin = count < d && c.task.form != DesignForm::diagonal;
  const int kind = random.integer(thin ? 1 : 0, 2);
  if (kind == 1) {
    c.task.regularisation = random.log_uniform(1e-4, 1.0);
    if (c.task.form == DesignForm::full) c.task.budget.weights = Dense{random.spd(d)};
    if (c.task.form == DesignForm::low_rank) {
      c.task.budget.weights = Diagonal{random.spd(d).diagonal()};
    }
  }
  if (kind == 2) {
    const double most = c.task.budget.total / trace(c.task.budget.weights);
    c.task.floor = VectorXd::Constant(d, random.uniform(0.01, 0.9) * most);
  }
  return c;
}

double regularising(const Case& c, const Covariance& covariance) {
  const Index d = dimension(covariance);
  const MatrixXd inverse = solve(c.task.budget.weights, MatrixXd::Identity(d, d));
  return c.task.regularisation * solve(covariance, inverse).trace();
}

TEST(MinimaxDesignProperty, TheCertificateHolds) {
  testing::RandomPairs random(kSeed);
  Observer quiet;
  int rough_gaps = 0;
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(round));
    const Case c = random_case(random);
    const Design fine = minimax_design(c.differences, c.task, {.tolerance = 1e-8}, quiet);
    ASSERT_LE(fine.gap, 1e-8);
    ASSERT_TRUE(std::find(fine.warnings.begin(), fine.warnings.end(),
                          DesignWarning::not_converged) == fine.warnings.end());
    // The covariance as returned: feasible, and as good as it says.
    ASSERT_NEAR(weighted_trace(c.task.budget.weights, fine.covariance), c.task.budget.total,
                1e-9 * c.task.budget.total);
    const double objective =
        costs_of(fine.covariance, c.differences).worst + regularising(c, fine.covariance);
    ASSERT_NEAR(objective, fine.objective, 1e-8 * fine.objective);
    if (c.task.floor.size() > 0) {
      ASSERT_GE(diagonal_of(fine.covariance).minCoeff(), c.task.floor(0) * (1.0 - 1e-9));
    }
    // A rough solve: both of its bounds hold, so its gap is at least its true sub-optimality.
    const Design rough =
        minimax_design(c.differences, c.task, {.max_iterations = random.integer(1, 8)}, quiet);
    ASSERT_LE(rough.lower_bound, fine.objective * (1.0 + 1e-12));
    ASSERT_GE(rough.objective, fine.lower_bound * (1.0 - 1e-12));
    ASSERT_GE(rough.gap, rough.objective / fine.objective - 1.0 - 1e-12);
    rough_gaps += rough.gap > 1e-6 ? 1 : 0;
  }
  EXPECT_GT(rough_gaps, 500);  // the rough solves were rough
}

TEST(MinimaxDesignProperty, NoRandomCovarianceDoesBetter) {
  testing::RandomPairs random(kSeed + 1);
  Observer quiet;
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + " case " + std::to_string(round));
    const Index d = random.integer(2, 4);
    const RowMajorMatrix s = random.matrix(random.integer(4, 12), d);
    const MatrixXd w = random.spd(d);
    const bool full = round % 2 == 0;
    const Design design = minimax_design(
        s, {.budget = {Dense{w}, 1.0}, .form = full ? DesignForm::full : DesignForm::diagonal}, {},
        quiet);
    for (int trial = 0; trial < 3; ++trial) {
      MatrixXd other = random.spd(d);
      if (!full) other = other.diagonal().eval().asDiagonal();
      const MatrixXd near =
          dense(design.covariance) + 1e-3 * dense(design.covariance).norm() / other.norm() * other;
      for (const MatrixXd& trial_matrix : {other, near}) {
        const MatrixXd feasible = trial_matrix / (w * trial_matrix).trace();
        ASSERT_GE(costs_of(Dense{feasible}, s).worst, design.lower_bound * (1.0 - 1e-10));
      }
    }
  }
}

TEST(MinimaxDesignProperty, ScalesAndOrders) {
  testing::RandomPairs random(kSeed + 2);
  Observer quiet;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + 2) + " case " + std::to_string(round));
    const Index d = random.integer(2, 5);
    const RowMajorMatrix s = random.matrix(random.integer(5, 15), d);
    const auto value = [&](const RowMajorMatrix& rows, DesignForm form, double total) {
      return minimax_design(rows, {.budget = trace_budget(d, total), .form = form}, {}, quiet)
          .value;
    };
    const double scale = random.log_uniform(0.01, 100.0);
    const double full = value(s, DesignForm::full, 1.0);
    const double diagonal = value(s, DesignForm::diagonal, 1.0);
    ASSERT_NEAR(value(scale * s, DesignForm::full, scale), scale * full, 1e-7 * scale * full);
    ASSERT_NEAR(value(scale * s, DesignForm::diagonal, scale), scale * diagonal,
                1e-7 * scale * diagonal);
    ASSERT_LE(full, diagonal * (1.0 + 1e-7));
    ASSERT_LE(diagonal, value(s, DesignForm::isotropic, 1.0) * (1.0 + 1e-7));
    // Turning all differences does not matter to full noise.
    const MatrixXd turn = Eigen::HouseholderQR<MatrixXd>(random.matrix(d, d)).householderQ();
    ASSERT_NEAR(value(s * turn, DesignForm::full, 1.0), full, 1e-7 * full);
  }
}

}  // namespace
}  // namespace sfumato
