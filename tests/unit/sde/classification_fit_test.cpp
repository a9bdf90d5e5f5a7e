// Reference minimisers: Newton's method with 40 digits (mpmath), on the table below.
#include "sfumato/sde/problem/classification_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

MatrixXd table() {
  return (MatrixXd(6, 2) << 1, 0.5, 1, -1.2, 1, 2.0, 1, 0.3, 1, -0.7, 1, 1.5).finished();
}
VectorXd labels() { return (VectorXd(6) << 1, 0, 1, 0, 1, 0).finished(); }
VectorXd classes() { return (VectorXd(6) << 0, 1, 2, 0, 1, 2).finished(); }

ClassificationProblem logistic(const RidgeOptions& options) {
  return ClassificationProblem::logistic(table(), labels(), options);
}

void expect_minimiser(const Convexity& found, const VectorXd& exact) {
  const double error = (found.minimiser - exact).norm();
  EXPECT_LT(error, 1e-14);
  EXPECT_LE(error, found.distance + 1e-16);
  EXPECT_LT(found.distance, 1e-12);
}

TEST(ClassificationFit, MinimisersToMachinePrecision) {
  const Vector2d sum(-0.07374007391426937342768, 0.2469812903402107096817);
  expect_minimiser(convexity(logistic({LossScale::sum, 0.5})), sum);
  const Vector2d mean(-0.06716758423291293959559, 0.2362691102985859562054);
  expect_minimiser(convexity(logistic({LossScale::mean, 0.1})), mean);
  const Vector2d plain(-0.1293168710693891914924, 0.3232921776734729787309);
  expect_minimiser(convexity(logistic({})), plain);
  const VectorXd softmax =
      (VectorXd(6) << 0.3331571329035827734583, 0.1069859054449140403909, 0.1403588378121373223773,
       -1.364026688897564460869, -0.4735159707157200958356, 1.257040783452650420478)
          .finished();
  expect_minimiser(
      convexity(ClassificationProblem::softmax(table(), classes(), 3, {LossScale::sum, 0.5})),
      softmax);
}

TEST(ClassificationFit, OnlyAnInterceptHasAClosedForm) {
  const auto problem = ClassificationProblem::logistic(MatrixXd::Ones(4, 1),
                                                       (VectorXd(4) << 1, 1, 1, 0).finished(), {});
  expect_minimiser(convexity(problem), VectorXd::Constant(1, std::log(3.0)));
  const Convexity found = convexity(problem);
  EXPECT_EQ(found.kappa, 0.0);
  EXPECT_NEAR(found.lipschitz, 1.0, 1e-12);
}

TEST(ClassificationFit, NeighboursOfTheTable) {
  const ClassificationFit fit(logistic({LossScale::sum, 0.5}));
  const Vector2d without(0.2171989424546274234724, 0.2522184335166970566561);
  const std::array neighbours{Neighbour{3}, Neighbour{0, Record{Vector2d(1, 0.5), 0.0}},
                              Neighbour{1, fit.problem().record(1)}};
  const auto found = fit.neighbours(neighbours, 0.0);
  EXPECT_LT((found[0].minimiser - without).norm(), 1e-12);
  EXPECT_LE((found[0].minimiser - without).norm(), found[0].distance);
  EXPECT_LE((found[2].minimiser - fit.convexity().minimiser).norm(), found[2].distance * 2);

  // Widened upwards twice, by 1e-12 each.
  const GradientGap flipped = fit.gap(neighbours[1]);
  EXPECT_GE(flipped.everywhere, std::sqrt(1.25));
  EXPECT_NEAR(flipped.everywhere, std::sqrt(1.25), 4e-12);
  EXPECT_EQ(flipped.lipschitz, 0.0);
  EXPECT_GE(flipped.at_minimiser, std::sqrt(1.25));
  EXPECT_NEAR(flipped.at_minimiser, std::sqrt(1.25), 4e-12);
  const GradientGap same = fit.gap(neighbours[2]);
  EXPECT_EQ(same.everywhere, 0.0);
  EXPECT_LT(same.at_minimiser, 1e-13);
  const GradientGap removed = fit.gap(neighbours[0]);
  EXPECT_GE(removed.everywhere, std::sqrt(1.09));
  EXPECT_NEAR(removed.everywhere, std::sqrt(1.09), 4e-12);
  EXPECT_NEAR(removed.lipschitz, 1.09 / 4, 1e-12);
}

TEST(ClassificationFit, OnlyTheRowMakesTheGap) {
  const ClassificationFit sum(logistic({LossScale::sum, 0.5}));
  const ClassificationFit grows(logistic({LossScale::sum, 0.5, RidgeScale::times_rows}));
  EXPECT_EQ(grows.gap({0}).everywhere, sum.gap({0}).everywhere);
  const ClassificationFit mean(logistic({LossScale::mean, 0.5}));
  EXPECT_NEAR(mean.gap({0}).everywhere, sum.gap({0}).everywhere / 6, 1e-12);
}

TEST(ClassificationFit, SeparableClassesNeedARidge) {
  const VectorXd separable = (VectorXd(6) << 1, 0, 1, 1, 0, 1).finished();
  try {
    (void)convexity(ClassificationProblem::logistic(table(), separable, {}));
    FAIL();
  } catch (const NumericalFailure& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("no minimiser can be certified"), std::string::npos) << text;
    EXPECT_NE(text.find("Add a ridge term"), std::string::npos) << text;
  }
  const auto tiny = ClassificationProblem::logistic(table(), separable, {LossScale::sum, 1e-6});
  EXPECT_LT(convexity(tiny).distance, 1e-6);
}

TEST(ClassificationFit, FlatDirectionsNeedARidge) {
  MatrixXd twice(6, 2);
  twice << table().col(1), 2.0 * table().col(1);
  EXPECT_THROW((void)convexity(ClassificationProblem::logistic(twice, labels(), {})),
               NumericalFailure);
  EXPECT_NO_THROW(
      (void)convexity(ClassificationProblem::logistic(twice, labels(), {LossScale::sum, 1e-3})));
}

TEST(ClassificationFit, ANeighbourWithoutAMinimiserIsRefused) {
  // Without row 3 the classes are separated at x = 0.
  const VectorXd nearly = (VectorXd(6) << 1, 0, 1, 0, 0, 1).finished();
  MatrixXd features = table();
  features(3, 1) = 0.7;
  const ClassificationFit fit(ClassificationProblem::logistic(features, nearly, {}));
  const std::array neighbours{Neighbour{3}};
  EXPECT_THROW((void)fit.neighbours(neighbours), NumericalFailure);
}

TEST(ClassificationFit, RefusesNeighboursThatDoNotFit) {
  const ClassificationFit fit(logistic({LossScale::sum, 0.5}));
  EXPECT_THROW((void)fit.gap({6}), InvalidArgument);
  EXPECT_THROW((void)fit.gap({-1}), InvalidArgument);
  EXPECT_THROW((void)fit.gap({0, Record{VectorXd::Ones(3), 0.0}}), InvalidArgument);
  EXPECT_THROW((void)fit.gap({0, Record{VectorXd::Ones(2), 2.0}}), InvalidArgument);
  const std::array far{Neighbour{9}};
  EXPECT_THROW((void)fit.neighbours(far), InvalidArgument);
  const ClassificationFit single(
      ClassificationProblem::logistic(table().topRows(1), labels().head(1), {LossScale::sum, 0.5}));
  EXPECT_THROW((void)single.gap({0}), InvalidArgument);
  EXPECT_THROW((void)convexity(logistic({}), VectorXd::Zero(3)), InvalidArgument);
}

TEST(ClassificationFit, LongTablesNeedNoPassForMostRows) {
  std::srand(7);
  const Eigen::Index rows = 3000;
  MatrixXd x = MatrixXd::Random(rows, 3);
  x.row(5) *= 40.0;  // one row that dominates
  const VectorXd noise = VectorXd::Random(rows);
  const VectorXd y = ((x.col(0) - 0.5 * x.col(1) + noise).array() > 0.0).cast<double>();
  for (const RidgeOptions& options :
       {RidgeOptions{LossScale::sum, 1.0}, RidgeOptions{LossScale::mean, 0.01},
        RidgeOptions{LossScale::sum, 1e-3, RidgeScale::times_rows}}) {
    const ClassificationFit fit(ClassificationProblem::logistic(x, y, options));
    for (const auto& replacement :
         {std::optional<Record>(), std::optional<Record>({VectorXd::Constant(3, 0.7), 1.0})}) {
      for (const Eigen::Index row : {0, 5, 1234}) {
        const std::array<Neighbour, 1> one = {Neighbour{row, replacement}};
        const Convexity found = fit.neighbours(one).front();
        const Convexity exact = convexity(fit.problem().neighbour(row, replacement));
        const double error = (found.minimiser - exact.minimiser).norm();
        const double shift = (found.minimiser - fit.convexity().minimiser).norm();
        EXPECT_LE(error, found.distance + exact.distance);
        EXPECT_LE(found.distance, 0.01 * shift + 1e-10);  // or what rounding allows
        EXPECT_LE(fit.problem().neighbour(row, replacement).gradient(found.minimiser).norm(),
                  found.gradient_norm);
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
