#include "sfumato/design/minimax_design.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace sfumato {
namespace {

using Eigen::VectorXd;

bool warns(const Design& design, DesignWarning warning) {
  return std::count(design.warnings.begin(), design.warnings.end(), warning) == 1;
}

DesignTask task(Eigen::Index d, DesignForm form, double total = 1.0) {
  return {.budget = trace_budget(d, total), .form = form};
}

Design solve_it(const RowMajorMatrix& s, const DesignTask& asked, SolverOptions options = {}) {
  Observer quiet;
  return minimax_design(s, asked, options, quiet);
}

TEST(MinimaxDesign, OrthogonalDifferences) {  // (3 + 4 ...)^2: variances 9/25 and 16/25
  RowMajorMatrix s(2, 2);
  s << 3.0, 0.0, 0.0, 4.0;
  for (const DesignForm form : {DesignForm::diagonal, DesignForm::full}) {
    const Design design = solve_it(s, task(2, form));
    EXPECT_NEAR(design.value, 25.0, 25.0 * 1e-8);
    EXPECT_NEAR(diagonal_of(design.covariance)(0), 0.36, 1e-6);
    EXPECT_LE(design.gap, 1e-8);
    EXPECT_LE(design.lower_bound, 25.0);
    EXPECT_DOUBLE_EQ(design.isotropic_value, 32.0);
    EXPECT_TRUE(design.warnings.empty());
  }
}

TEST(MinimaxDesign, EqualDifferencesAlongTheAxesGiveIsotropicNoise) {
  const RowMajorMatrix s = 2.0 * RowMajorMatrix::Identity(4, 4);
  for (const DesignForm form : {DesignForm::diagonal, DesignForm::full}) {
    const Design design = solve_it(s, task(4, form));
    EXPECT_TRUE(dense(design.covariance).isApprox(0.25 * Eigen::MatrixXd::Identity(4, 4), 1e-12));
    EXPECT_NEAR(design.gain_over_isotropic(), 1.0, 1e-12);
  }
}

TEST(MinimaxDesign, OneDifferenceIsTheAverageDesign) {
  RowMajorMatrix s(1, 3);
  s << 1.0, -2.0, 0.5;
  const Design design = solve_it(s, task(3, DesignForm::diagonal));
  EXPECT_NEAR(design.value, 3.5 * 3.5, 1e-12);
  try {
    (void)solve_it(s, task(3, DesignForm::full));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("one line"), std::string::npos);
  }
  DesignTask regular = task(3, DesignForm::full);
  regular.regularisation = 1e-3;
  EXPECT_TRUE(is_definite(solve_it(s, regular).covariance));
  DesignTask thin = regular;
  thin.form = DesignForm::low_rank;
  EXPECT_TRUE(
      dense(solve_it(s, thin).covariance).isApprox(dense(solve_it(s, regular).covariance), 1e-12));
}

TEST(MinimaxDesign, IsotropicAndGroups) {
  RowMajorMatrix s(2, 3);
  s << 3.0, 4.0, 0.0, 0.0, 0.0, 1.0;
  const Design isotropic = solve_it(s, task(3, DesignForm::isotropic));
  EXPECT_DOUBLE_EQ(isotropic.value, 75.0);
  EXPECT_DOUBLE_EQ(isotropic.value, isotropic.isotropic_value);
  DesignTask grouped = task(3, DesignForm::grouped);
  grouped.groups = {0, 0, 1};
  const Design design = solve_it(s, grouped);
  // 25/v = 1/x and 2 v + x = 1: v = 25 x, so x = 1/51.
  EXPECT_NEAR(design.value, 51.0, 51.0 * 1e-8);
  EXPECT_NEAR(diagonal_of(design.covariance)(1), 25.0 / 51.0, 1e-6);
  grouped.groups = {0, 0, 0};
  EXPECT_NEAR(solve_it(s, grouped).value, 75.0, 75.0 * 1e-8);
}

TEST(MinimaxDesign, ADroppedDirectionIsInfinite) {  // Spec §9.3
  RowMajorMatrix s(2, 2);
  s << 1.0, 0.0, 0.0, 1e-8;
  const Design design = solve_it(s, task(2, DesignForm::full));
  EXPECT_EQ(design.value, HUGE_VAL);
  EXPECT_EQ(design.gap, HUGE_VAL);
  EXPECT_TRUE(warns(design, DesignWarning::dropped_direction));
  DesignTask regular = task(2, DesignForm::full);
  regular.regularisation = 1e-3;
  EXPECT_LE(solve_it(s, regular).gap, 1e-8);
}

TEST(MinimaxDesign, ASpanSmallerThanTheSpaceIsMarked) {
  RowMajorMatrix s(3, 4);
  s << 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0;
  const Design full = solve_it(s, task(4, DesignForm::full));
  EXPECT_TRUE(warns(full, DesignWarning::rank_deficient));
  EXPECT_NEAR(full.value, 4.0, 1e-6);  // two orthogonal differences of squared length 2
  const Design diagonal = solve_it(s, task(4, DesignForm::diagonal));
  EXPECT_TRUE(warns(diagonal, DesignWarning::silent_coordinates));
  EXPECT_EQ(diagonal.silent, 2);
}

TEST(MinimaxDesign, ComparesWithTheDiagonalFormWhenAsked) {
  RowMajorMatrix s(2, 2);
  s << 1.0, 1.0, 0.1, -0.1;
  const Design full = solve_it(s, task(2, DesignForm::full), {.compare = true});
  EXPECT_NEAR(*full.diagonal_value, 4.0, 1e-7);
  EXPECT_NEAR(full.value, 2.02, 1e-7);  // orthogonal: the squared lengths add up
  EXPECT_NEAR(*full.gain_over_diagonal(), 4.0 / 2.02, 1e-6);
  EXPECT_FALSE(solve_it(s, task(2, DesignForm::full)).gain_over_diagonal());
  EXPECT_EQ(*solve_it(s, task(2, DesignForm::diagonal)).gain_over_diagonal(), 1.0);
}

TEST(MinimaxDesign, StopsWhenAskedAndSaysSo) {
  class Impatient final : public Observer {
   public:
    [[nodiscard]] bool stop_requested() const override { return true; }
  } impatient;
  const RowMajorMatrix s = RowMajorMatrix::Random(20, 5);
  const Design design = minimax_design(s, task(5, DesignForm::full), {}, impatient);
  EXPECT_TRUE(warns(design, DesignWarning::not_converged));
  EXPECT_EQ(design.iterations, 1);
  const Design whole = solve_it(s, task(5, DesignForm::full));
  EXPECT_GE(design.value, whole.lower_bound);
  EXPECT_LE(design.lower_bound, whole.value);
  EXPECT_TRUE(warns(solve_it(s, task(5, DesignForm::full), {.max_iterations = 2}),
                    DesignWarning::not_converged));
}

TEST(MinimaxDesign, DoesNotDependOnThreads) {
  const RowMajorMatrix s = RowMajorMatrix::Random(300, 40);
  for (const DesignForm form : {DesignForm::diagonal, DesignForm::full}) {
    const Design one = solve_it(s, task(40, form), {.threads = 1});
    const Design four = solve_it(s, task(40, form), {.threads = 4});
    EXPECT_EQ(one.value, four.value);
    EXPECT_EQ(dense(one.covariance), dense(four.covariance));
  }
}

TEST(MinimaxDesign, RefusesBadInput) {
  RowMajorMatrix s = RowMajorMatrix::Ones(2, 2);
  s(0, 0) = 2.0;
  EXPECT_THROW((void)solve_it(s, task(3, DesignForm::diagonal)), InvalidArgument);
  EXPECT_THROW((void)solve_it(s, task(2, DesignForm::diagonal), {.tolerance = 0.0}),
               InvalidArgument);
  EXPECT_THROW((void)solve_it(s, task(2, DesignForm::low_rank)), InvalidArgument);
  RowMajorMatrix wide = RowMajorMatrix::Random(2, 5);
  EXPECT_THROW((void)solve_it(wide, task(5, DesignForm::low_rank)), InvalidArgument);
  s.row(1).setZero();
  EXPECT_THROW((void)solve_it(s, task(2, DesignForm::diagonal)), InvalidArgument);
  s(1, 0) = std::nan("");
  EXPECT_THROW((void)solve_it(s, task(2, DesignForm::diagonal)), InvalidArgument);
}

TEST(MinimaxDesign, RefusesABudgetForWhichEveryCostOverflows) {
  const RowMajorMatrix s = RowMajorMatrix::Identity(2, 2);
  for (const DesignForm form : {DesignForm::full, DesignForm::diagonal}) {
    DesignTask tiny = task(2, form);
    tiny.budget.total = 1e-308;
    EXPECT_THROW((void)solve_it(s, tiny), InvalidArgument);
  }
}

TEST(CostsOf, WorstAndMean) {
  RowMajorMatrix s(2, 2);
  s << 3.0, 0.0, 0.0, 4.0;
  const DesignCosts costs = costs_of(Diagonal{Eigen::Vector2d(1.0, 2.0)}, s);
  EXPECT_DOUBLE_EQ(costs.worst, 9.0);
  EXPECT_DOUBLE_EQ(costs.mean, 8.5);
  EXPECT_EQ(costs_of(Diagonal{Eigen::Vector2d(1.0, 0.0)}, s).worst, HUGE_VAL);
  const Dense correlated{(Eigen::MatrixXd(2, 2) << 2.0, 0.5, 0.5, 1.0).finished()};
  EXPECT_NEAR(costs_of(correlated, s).worst, 16.0 * 2.0 / 1.75, 1e-12);
  EXPECT_THROW((void)costs_of(Isotropic{1.0, 3}, s), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
