#include "sfumato/design/average_design.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/design/differences.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

bool warns(const Design& design, DesignWarning warning) {
  return std::count(design.warnings.begin(), design.warnings.end(), warning) == 1;
}

DesignTask task(Eigen::Index d, DesignForm form, double total = 1.0) {
  return {.budget = trace_budget(d, total), .form = form};
}

TEST(AverageDesign, DiagonalIsProportionalToTheRoots) {
  const Design design =
      average_design(Diagonal{Eigen::Vector2d(100.0, 1.0)}, task(2, DesignForm::diagonal, 25.0));
  EXPECT_DOUBLE_EQ(design.value, 4.84);
  EXPECT_DOUBLE_EQ(design.isotropic_value, 8.08);
  EXPECT_DOUBLE_EQ(design.gain_over_isotropic(), 8.08 / 4.84);
  EXPECT_DOUBLE_EQ(design.budget, 25.0);
  EXPECT_EQ(design.gap, 0.0);
}

TEST(AverageDesign, GainOverIsotropicCanExceedTheDimension) {  // Spec §9.1
  DesignTask weighted = task(2, DesignForm::diagonal);
  weighted.budget.weights = Diagonal{Eigen::Vector2d(1.0, 100.0)};
  const Design design = average_design(Diagonal{Eigen::Vector2d(1.0, 0.0)}, weighted);
  EXPECT_DOUBLE_EQ(design.gain_over_isotropic(), 101.0);
  EXPECT_TRUE(warns(design, DesignWarning::silent_coordinates));
  EXPECT_EQ(design.silent, 1);
}

TEST(AverageDesign, OneGroupPerCoordinateIsDiagonalAndOneForAllIsotropic) {
  const Diagonal g{Eigen::Vector3d(9.0, 4.0, 1.0)};
  DesignTask grouped = task(3, DesignForm::grouped);
  grouped.groups = {0, 1, 2};
  EXPECT_DOUBLE_EQ(average_design(g, grouped).value,
                   average_design(g, task(3, DesignForm::diagonal)).value);
  grouped.groups = {0, 0, 0};
  const Design isotropic = average_design(g, task(3, DesignForm::isotropic));
  EXPECT_DOUBLE_EQ(average_design(g, grouped).value, isotropic.value);
  EXPECT_DOUBLE_EQ(isotropic.value, isotropic.isotropic_value);
  EXPECT_DOUBLE_EQ(*isotropic_variance(isotropic.covariance), 1.0 / 3.0);
  // Two groups: (9 + 4) over two coordinates and 1 over one; u ~ sqrt(2 * 13) and 1.
  grouped.groups = {0, 0, 1};
  EXPECT_NEAR(average_design(g, grouped).value, std::pow(std::sqrt(26.0) + 1.0, 2), 1e-12);
}

TEST(AverageDesign, EqualMomentsGiveIsotropicNoise) {
  for (const DesignForm form : {DesignForm::diagonal, DesignForm::full}) {
    const Design design = average_design(Dense{4.0 * MatrixXd::Identity(3, 3)}, task(3, form, 6.0));
    EXPECT_TRUE(dense(design.covariance).isApprox(2.0 * MatrixXd::Identity(3, 3), 1e-14));
    EXPECT_NEAR(design.gain_over_isotropic(), 1.0, 1e-14);
  }
}

TEST(AverageDesign, FullUsesCorrelations) {
  const MatrixXd g = (MatrixXd(2, 2) << 2.0, 1.5, 1.5, 2.0).finished();
  const Design full = average_design(Dense{g}, task(2, DesignForm::full));
  // Eigenvalues 3.5 and 0.5.
  EXPECT_NEAR(full.value, std::pow(std::sqrt(3.5) + std::sqrt(0.5), 2), 1e-13);
  EXPECT_LT(full.value, average_design(Dense{g}, task(2, DesignForm::diagonal)).value);
  EXPECT_DOUBLE_EQ(*full.diagonal_value, 8.0);
  EXPECT_DOUBLE_EQ(*full.gain_over_diagonal(), 8.0 / full.value);
  EXPECT_LE(full.lower_bound, full.objective);
  EXPECT_LT(full.gap, 1e-12);
}

TEST(AverageDesign, SingleDirectionNeedsAFloorOrARegularisation) {
  const VectorXd s = Eigen::Vector3d(1.0, 2.0, 2.0);
  const Dense g{s * s.transpose()};
  EXPECT_THROW((void)average_design(g, task(3, DesignForm::full)), InvalidArgument);
  EXPECT_THROW((void)average_design(Diagonal{Eigen::Vector2d(1.0, 0.0)}, task(2, DesignForm::full)),
               InvalidArgument);
  DesignTask regular = task(3, DesignForm::full);
  regular.regularisation = 0.01;
  const Design design = average_design(g, regular);
  EXPECT_TRUE(is_definite(design.covariance));
  const double tr = std::sqrt(9.01) + 2.0 * std::sqrt(0.01);
  EXPECT_NEAR(design.objective, tr * tr, 1e-12);
  EXPECT_NEAR(design.value, s.dot(solve(design.covariance, s).col(0)), 1e-11);
  DesignTask floored = task(3, DesignForm::full);
  floored.floor = VectorXd::Constant(3, 0.1);
  // 0.1 in the two empty directions, 0.8 along s.
  EXPECT_NEAR(average_design(g, floored).value, 9.0 / 0.8, 1e-12);
}

TEST(AverageDesign, RankDeficientOptimumIsMarked) {
  RowMajorMatrix s(2, 4);
  s << 1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0;
  const Design thin = average_design(second_moment_matrix(s), task(4, DesignForm::full));
  const Design thick =
      average_design(Dense{dense(second_moment_matrix(s))}, task(4, DesignForm::full));
  EXPECT_TRUE(warns(thin, DesignWarning::rank_deficient));
  EXPECT_TRUE(warns(thick, DesignWarning::rank_deficient));
  EXPECT_NEAR(thin.value, thick.value, 1e-12 * thin.value);
  EXPECT_TRUE(dense(thin.covariance).isApprox(dense(thick.covariance), 1e-12));
}

TEST(AverageDesign, LowRankIsTheFullOptimum) {
  const RowMajorMatrix s = RowMajorMatrix::Random(3, 7);
  DesignTask thin = task(7, DesignForm::low_rank, 2.0);
  thin.budget.weights = Diagonal{VectorXd::LinSpaced(7, 0.5, 2.0)};
  thin.regularisation = 0.02;
  DesignTask full = thin;
  full.form = DesignForm::full;
  const Design a = average_design(second_moment_matrix(s), thin);
  const Design b = average_design(Dense{dense(second_moment_matrix(s))}, full);
  EXPECT_TRUE(std::holds_alternative<Factored>(a.covariance));
  EXPECT_TRUE(dense(a.covariance).isApprox(dense(b.covariance), 1e-12));
  EXPECT_NEAR(a.objective, b.objective, 1e-12 * b.objective);
  EXPECT_NEAR(weighted_trace(thin.budget.weights, a.covariance), 2.0, 1e-12);
}

TEST(AverageDesign, FloorOfTheDiagonalForm) {
  DesignTask floored = task(3, DesignForm::diagonal, 10.0);
  floored.floor = Eigen::Vector3d(0.0, 0.0, 4.0);
  const Design design = average_design(Diagonal{Eigen::Vector3d(16.0, 4.0, 0.0)}, floored);
  EXPECT_TRUE(diagonal_of(design.covariance).isApprox(Eigen::Vector3d(4.0, 2.0, 4.0), 1e-15));
  EXPECT_TRUE(design.warnings.empty());
  EXPECT_EQ(design.isotropic_value, HUGE_VAL);  // 10/3 everywhere is below the floor
}

TEST(AverageDesign, RefusesBadInput) {
  const Diagonal g{Eigen::Vector2d(1.0, 2.0)};
  EXPECT_THROW((void)average_design(g, task(3, DesignForm::diagonal)), InvalidArgument);
  EXPECT_THROW((void)average_design(Diagonal{VectorXd::Zero(2)}, task(2, DesignForm::diagonal)),
               InvalidArgument);
  EXPECT_THROW(
      (void)average_design(Diagonal{Eigen::Vector2d(1.0, -1.0)}, task(2, DesignForm::diagonal)),
      InvalidArgument);
  EXPECT_THROW((void)average_design(Diagonal{Eigen::Vector2d(1.0, std::nan(""))},
                                    task(2, DesignForm::diagonal)),
               InvalidArgument);
  EXPECT_THROW((void)average_design(g, task(2, DesignForm::low_rank)), InvalidArgument);
  DesignTask bad = task(2, DesignForm::diagonal);
  bad.budget.total = -1.0;
  EXPECT_THROW((void)average_design(g, bad), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
