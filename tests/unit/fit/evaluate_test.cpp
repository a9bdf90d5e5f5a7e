#include "sfumato/fit/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

TEST(PrivateR2, WithoutNoiseIsR2) {
  // Ten values of y / Y with mean 0.1 and second moment 0.2; the loss a quarter of the variance.
  const double n = 10.0, bound = 3.0, y = 1.0, y2 = 2.0;
  const double variance = bound * bound * (y2 - y * y / n);
  const PrivateR2 found = private_r2(0.25 * variance / 4.0, y, y2, n, 4.0, bound, 0.0);
  EXPECT_NEAR(found.r2, 0.75, 1e-14);
  EXPECT_NEAR(found.variance, variance, 1e-13);
  EXPECT_EQ(found.privacy_error, 0.0);
  EXPECT_TRUE(found.resolved);
}

TEST(PrivateR2, NoiseThatHidesTheVarianceIsSaidSo) {
  EXPECT_FALSE(private_r2(0.1, 1.0, 2.0, 10.0, 4.0, 3.0, 5.0).resolved);
  const PrivateR2 a = private_r2(0.1, 1.0, 2.0, 10.0, 4.0, 3.0, 0.01);
  const PrivateR2 b = private_r2(0.1, 1.0, 2.0, 10.0, 4.0, 3.0, 0.02);
  EXPECT_NEAR(b.privacy_error, 2.0 * a.privacy_error, 1e-14);
}

TEST(Evaluate, FindsTheAccuracyOfManyRows) {
  for (const FitModel model : {FitModel::ridge, FitModel::logistic}) {
    const SyntheticTable made = synthetic_table(model, 20'000, 2, 6);
    // Of the quantity the coefficients that it was made with; everybody is guessed to be of the first class.
    const Eigen::MatrixXd parameters = model == FitModel::ridge
                                           ? Eigen::MatrixXd(made.truth)
                                           : Eigen::MatrixXd::Zero(made.rows.features.cols(), 1);
    ReleaseBits bits(ReleaseKey::from_seed(1));
    const HeldOut found =
        evaluate(made.rows, made.table, {model, parameters, 0.0, 2.0, NoiseMode::grid}, bits);
    EXPECT_TRUE(found.resolved);
    EXPECT_NEAR(found.rows, 20'000.0, 100.0);
    if (model == FitModel::ridge) {
      const Eigen::VectorXd residual = made.rows.features * made.truth - made.rows.target;
      const Eigen::VectorXd centred = made.rows.target.array() - made.rows.target.mean();
      EXPECT_NEAR(found.value, 1.0 - residual.squaredNorm() / centred.squaredNorm(), 0.1);
    } else {
      const double share = (made.rows.target.array() == 0.0).cast<double>().mean();
      EXPECT_NEAR(found.value, share, 0.01);
    }
  }
}

}  // namespace
}  // namespace sfumato
