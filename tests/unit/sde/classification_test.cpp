#include "sfumato/sde/problem/classification.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sfumato/sde/problem/link_kernel.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd table() {
  return (MatrixXd(6, 2) << 1, 0.5, 1, -1.2, 1, 2.0, 1, 0.3, 1, -0.7, 1, 1.5).finished();
}
VectorXd labels() { return (VectorXd(6) << 1, 0, 1, 0, 1, 0).finished(); }
VectorXd classes() { return (VectorXd(6) << 0, 1, 2, 0, 1, 2).finished(); }

ClassificationProblem logistic(const RidgeOptions& options = {LossScale::sum, 0.5}) {
  return ClassificationProblem::logistic(table(), labels(), options);
}
ClassificationProblem softmax(const RidgeOptions& options = {LossScale::sum, 0.5}) {
  return ClassificationProblem::softmax(table(), classes(), 3, options);
}

TEST(Classification, LossAtZeroIsTheEntropyOfTheClasses) {
  EXPECT_DOUBLE_EQ(logistic().loss(VectorXd::Zero(2)), 6 * std::log(2.0));
  EXPECT_DOUBLE_EQ(softmax().loss(VectorXd::Zero(6)), 6 * std::log(3.0));
  EXPECT_DOUBLE_EQ(logistic({LossScale::mean, 0.5}).loss(VectorXd::Zero(2)), std::log(2.0));
}

TEST(Classification, TwoSoftmaxClassesAreLogisticInTheDifference) {
  const auto two = ClassificationProblem::softmax(table(), labels(), 2, {});
  const VectorXd w = (VectorXd(4) << 0.2, -0.3, 0.9, 0.4).finished();
  const VectorXd difference = w.tail(2) - w.head(2);
  const auto one = logistic({});
  EXPECT_NEAR(two.loss(w), one.loss(difference), 1e-14);
  EXPECT_TRUE(two.gradient(w).tail(2).isApprox(one.gradient(difference), 1e-13));
  EXPECT_TRUE(two.gradient(w).head(2).isApprox(-one.gradient(difference), 1e-13));
}

TEST(Classification, RidgeAndWeightsFollowTheOptions) {
  const VectorXd w = (VectorXd(2) << 0.2, -0.3).finished();
  const VectorXd plain = logistic({}).gradient(w);
  EXPECT_TRUE(logistic({LossScale::sum, 0.5}).gradient(w).isApprox(plain + 0.5 * w, 1e-14));
  EXPECT_TRUE(logistic({LossScale::mean, 0.5}).gradient(w).isApprox(plain / 6 + 0.5 * w, 1e-14));
  EXPECT_TRUE(logistic({LossScale::sum, 0.5, RidgeScale::times_rows})
                  .gradient(w)
                  .isApprox(plain + 3.0 * w, 1e-14));
}

TEST(Classification, NeighboursAreTablesOfTheirOwn) {
  const VectorXd w = (VectorXd(2) << 0.2, -0.3).finished();
  const auto problem = logistic({});
  EXPECT_TRUE(
      problem.neighbour(2, std::nullopt)
          .gradient(w)
          .isApprox(problem.gradient(w) - problem.record_gradient(problem.record(2), w), 1e-13));
  const Record other{Eigen::Vector2d(1.0, 7.0), 0.0};
  EXPECT_TRUE(problem.neighbour(2, other).gradient(w).isApprox(
      problem.gradient(w) - problem.record_gradient(problem.record(2), w) +
          problem.record_gradient(other, w),
      1e-13));
  EXPECT_EQ(problem.neighbour(0, std::nullopt).rows(), 5);
  // N is public and stays: the mean is over six places, one of them empty.
  const auto mean = logistic({LossScale::mean, 0.5}).neighbour(2, std::nullopt);
  EXPECT_TRUE(mean.gradient(w).isApprox(
      problem.neighbour(2, std::nullopt).gradient(w) / 6 + 0.5 * w, 1e-13));
  EXPECT_EQ(logistic({LossScale::sum, 0.5, RidgeScale::times_rows})
                .neighbour(2, std::nullopt)
                .weights()
                .ridge,
            3.0);
  const auto single = ClassificationProblem::logistic(table().topRows(1), labels().head(1), {});
  EXPECT_THROW((void)single.neighbour(0, std::nullopt), InvalidArgument);
}

TEST(Classification, HessianBoundIsAttainedAtZero) {
  // p (1 - p) = 1/4 at w = 0, so the bound is exact there.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(logistic().hessian(VectorXd::Zero(2)));
  EXPECT_NEAR(hessian_bound(logistic()), solver.eigenvalues()(1), 1e-12);
  EXPECT_GE(hessian_bound(logistic()), solver.eigenvalues()(1));
}

TEST(Classification, DiffusionIsTheNegativeGradient) {
  const auto problem = std::make_shared<const ClassificationProblem>(softmax());
  const Diffusion diffusion = classification_diffusion(problem, Isotropic{0.1, 6});
  const Points at = MatrixXd::Random(130, 6).array();
  Points out(130, 6);
  diffusion.drift(0.0, at, out);
  for (Index j = 0; j < 130; ++j) {
    const VectorXd w = at.row(j).matrix().transpose();
    EXPECT_TRUE(out.row(j).matrix().transpose().isApprox(-problem->gradient(w), 1e-12));
  }
  EXPECT_DOUBLE_EQ(diffusion.contraction(Isotropic{3.0, 6}), 0.5);
  EXPECT_LT(diffusion.contraction(Diagonal{VectorXd::LinSpaced(6, 1.0, 2.0)}), 0.5);
  EXPECT_THROW((void)classification_diffusion(problem, Isotropic{0.1, 5}), InvalidArgument);
}

TEST(Classification, LinksKeepTheirDigits) {
  for (double z = -745.0; z < 745.0; z += 0.377) {
    double value = z;
    logistic_in_place(1, &value);
    const double exact = 1.0 / (1.0 + std::exp(-z));
    EXPECT_NEAR(value, exact, 4e-16 + 4e-16 * exact) << z;
    double three[3] = {z, 0.3, -z};
    softmax_in_place(1, 3, three);
    EXPECT_NEAR(three[0] + three[1] + three[2], 1.0, 5e-16);
    const double largest = std::abs(z);
    const double total = std::exp(z - largest) + std::exp(0.3 - largest) + std::exp(-z - largest);
    EXPECT_NEAR(three[0], std::exp(z - largest) / total, 1e-15) << z;
  }
  double bad = std::nan("");
  logistic_in_place(1, &bad);
  EXPECT_TRUE(std::isnan(bad));
}

TEST(Classification, RefusesWhatIsNotAProblem) {
  const VectorXd wrong = (VectorXd(6) << 1, 0, 2, 0, 1, 0).finished();
  try {
    (void)ClassificationProblem::logistic(table(), wrong, {});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(
        std::string(error.what()).find("label of row 3 = 2 is not a class. Label the rows 0 and 1"),
        std::string::npos)
        << error.what();
  }
  EXPECT_THROW((void)ClassificationProblem::logistic(table(), labels().head(5), {}),
               InvalidArgument);
  EXPECT_THROW((void)ClassificationProblem::logistic(MatrixXd(0, 2), VectorXd(0), {}),
               InvalidArgument);
  EXPECT_THROW((void)ClassificationProblem::softmax(table(), classes(), 1, {}), InvalidArgument);
  EXPECT_THROW((void)ClassificationProblem::softmax(table(), classes(), 2, {}), InvalidArgument);
  EXPECT_THROW((void)logistic({LossScale::sum, -1.0}), InvalidArgument);
  EXPECT_THROW((void)logistic({LossScale::mean, 1.0, RidgeScale::times_rows}), InvalidArgument);
  MatrixXd holes = table();
  holes(3, 1) = std::nan("");
  EXPECT_THROW((void)ClassificationProblem::logistic(holes, labels(), {}), InvalidArgument);
  EXPECT_THROW((void)ClassificationProblem::logistic(1e160 * table(), labels(), {}),
               NumericalFailure);
  EXPECT_THROW((void)logistic().neighbour(0, Record{Eigen::Vector3d(1, 2, 3), 0.0}),
               InvalidArgument);
  EXPECT_THROW((void)logistic().neighbour(0, Record{Eigen::Vector2d(1, 2), 0.5}), InvalidArgument);
  EXPECT_THROW((void)logistic().gradient(VectorXd::Zero(3)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
