#include "sfumato/sde/minibatch.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd gradients() { return (MatrixXd(4, 2) << 1, 0, 2, 1, 0, -1, 1, 3).finished(); }

TEST(Minibatch, ValuesOfTheSpecification) {
  const MatrixXd with =
      dense(minibatch_covariance(gradients(), {2, BatchSampling::with_replacement}));
  EXPECT_TRUE(with.isApprox((MatrixXd(2, 2) << 4, 4, 4, 17.5).finished(), 1e-15));
  const MatrixXd without = dense(minibatch_covariance(gradients(), {2}));
  EXPECT_TRUE(without.isApprox(with * 2 / 3, 1e-14));
  // Errata 24: N = 2, g = (1, 1) gives 0, not -4; g = (1, 2, 0, 1) gives 4 and 2.667.
  EXPECT_EQ(trace(minibatch_covariance(MatrixXd::Ones(2, 1), {1})), 0.0);
  const MatrixXd four = (MatrixXd(4, 1) << 1, 2, 0, 1).finished();
  EXPECT_DOUBLE_EQ(trace(minibatch_covariance(four, {2, BatchSampling::with_replacement})), 4.0);
  EXPECT_DOUBLE_EQ(trace(minibatch_covariance(four, {2})), 8.0 / 3.0);
}

TEST(Minibatch, MeanDividesByTheSquareOfTheRows) {
  const MatrixXd sum = dense(minibatch_covariance(gradients(), {2}));
  const MatrixXd mean = dense(
      minibatch_covariance(gradients(), {2, BatchSampling::without_replacement, LossScale::mean}));
  EXPECT_TRUE(mean.isApprox(sum / 16, 1e-15));
}

TEST(Minibatch, TheWholeTableHasNoNoise) {
  EXPECT_EQ(dense(minibatch_covariance(gradients(), {4})), MatrixXd::Zero(2, 2));
  EXPECT_EQ(trace(minibatch_covariance(MatrixXd::Ones(1, 3), {1})), 0.0);
}

TEST(Minibatch, FewRowsAreFactored) {
  const MatrixXd wide = (MatrixXd(3, 5) << 1, 2, 3, 4, 5, 0, 1, 0, 1, 0, 2, 2, 1, 1, 7).finished();
  const Covariance covariance = minibatch_covariance(wide, {1});
  ASSERT_TRUE(std::holds_alternative<Factored>(covariance));
  const MatrixXd centred = wide.rowwise() - wide.colwise().mean();
  EXPECT_TRUE(dense(covariance).isApprox(3.0 * centred.transpose() * centred, 1e-14));
  EXPECT_TRUE(std::holds_alternative<Dense>(minibatch_covariance(wide.leftCols(2), {1})));
}

TEST(Minibatch, StepAndDiffusion) {
  const Covariance estimator = minibatch_covariance(gradients(), {2});
  EXPECT_TRUE(
      dense(minibatch_step_covariance(estimator, 0.1)).isApprox(0.01 * dense(estimator), 1e-14));
  EXPECT_TRUE(dense(minibatch_diffusion_covariance(estimator, 0.1))
                  .isApprox(0.1 * dense(estimator), 1e-14));
  EXPECT_THROW((void)minibatch_step_covariance(estimator, 0.0), InvalidArgument);
  EXPECT_THROW((void)minibatch_diffusion_covariance(estimator, -1.0), InvalidArgument);
}

// The place of a removed record: a row whose gradient and curvature are 0.
TEST(Minibatch, AnEmptyRowIsARowOfZeros) {
  const RowLosses whole{
      2, 1, [](const VectorXd& at) -> MatrixXd { return MatrixXd::Constant(2, 1, at(0)); },
      [](const VectorXd&, const MatrixXd& v) -> VectorXd { return v.colwise().sum().transpose(); },
      [](const VectorXd&) -> VectorXd { return VectorXd::Ones(2); }};
  const RowLosses empty = with_empty_row(whole);
  EXPECT_EQ(empty.rows, 3);
  const VectorXd at = VectorXd::Constant(1, 2.0);
  EXPECT_EQ(empty.gradients(at), Eigen::Vector3d(2, 2, 0));
  EXPECT_EQ(empty.curvature_products(at, Eigen::Vector3d(1, 2, 4))(0), 3.0);
  EXPECT_EQ(empty.curvature_traces(at), Eigen::Vector3d(1, 1, 0));
}

TEST(Minibatch, Refusals) {
  EXPECT_THROW((void)minibatch_covariance(MatrixXd(0, 2), {1}), InvalidArgument);
  EXPECT_THROW((void)minibatch_covariance(gradients(), {0}), InvalidArgument);
  EXPECT_THROW((void)minibatch_covariance(gradients(), {5}), InvalidArgument);
  EXPECT_NO_THROW((void)minibatch_covariance(gradients(), {5, BatchSampling::with_replacement}));
  MatrixXd bad = gradients();
  bad(1, 1) = std::nan("");
  EXPECT_THROW((void)minibatch_covariance(bad, {1}), InvalidArgument);
  const RowLosses losses{
      4, 2, [](const VectorXd&) { return gradients(); },
      [](const VectorXd&, const MatrixXd&) { return VectorXd(VectorXd::Zero(2)); },
      [](const VectorXd&) { return VectorXd(VectorXd::Zero(4)); }};
  EXPECT_THROW((void)minibatch_noise(losses, {2}, 0.0), InvalidArgument);
  EXPECT_THROW((void)minibatch_noise(losses, {2}, 0.1, -1.0), InvalidArgument);
  EXPECT_THROW((void)minibatch_noise(losses, {7}, 0.1), InvalidArgument);
  const MatrixNoise noise = minibatch_noise(losses, {2}, 0.1, 0.5);
  const MatrixXd expected =
      0.1 * dense(minibatch_covariance(gradients(), {2})) + 0.5 * MatrixXd::Identity(2, 2);
  EXPECT_TRUE(noise.covariance(0.0, VectorXd::Zero(2)).isApprox(expected, 1e-14));
}

}  // namespace
}  // namespace sfumato
